"""Plans by machine, collective and size: see registry."""

from msccl.autosynth.registry import (
    Collective,
    init,
    ndv2_perm,
    print_plans,
    register_ef_file,
    register_msccl_program,
    register_synthesis_plan,
    tabulate_plans,
)

__all__ = [
    "Collective",
    "init",
    "ndv2_perm",
    "print_plans",
    "register_ef_file",
    "register_msccl_program",
    "register_synthesis_plan",
    "tabulate_plans",
]
