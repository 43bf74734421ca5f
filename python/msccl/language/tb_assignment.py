"""Names of the original compiler's passes over its instruction graph. Hocket's compiler has passes of
its own, which MSCCLProgram.lower() runs; these say so."""


def _internal(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(
            f"{name}() is a pass inside the original compiler; MSCCLProgram.lower() compiles here, and "
            "hocket.compile(..., print_after='all', observer=print) shows its passes"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "A pass of the original compiler. Not callable: use MSCCLProgram.lower()."
    return refuse


auto_assign_tbs = _internal("auto_assign_tbs")
manual_assign_tbs = _internal("manual_assign_tbs")
topo_sort_instrs = _internal("topo_sort_instrs")
channel_assignment = _internal("channel_assignment")
