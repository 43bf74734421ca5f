"""Numbers of a program's arguments, refused in the user's terms."""

import operator

from hocket import _core


def as_int(code, what, value):
    """`value` as an int of 32 bits, or the error of `code`: a float or a string is no number of things."""
    try:
        number = operator.index(value)
    except TypeError:
        _core._make_error(code, f"{what} {value!r}, but it must be a whole number")
    if not -(1 << 31) <= number < 1 << 31:
        _core._make_error(code, f"{what} {number}, but it must fit into 32 bits")
    return number
