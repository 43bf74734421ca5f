"""The original compiler's checks of a lowered program. They run inside compilation here, so that
calling them on what lower() returns finds nothing left to complain about."""


def check_dependency_cycles(tbs):
    """Nothing to find: what is lowered has been scheduled in one global order."""


def check_threadblock_ordering(rank_dag):
    """Nothing to find: both ends of a connection are in the order of their messages."""
