"""Program bodies to be called inside an open program."""
