"""A drop-in for the original MSCCLang package, on Hocket's compiler.

Programs written for the original import `msccl.language` and `msccl.topologies` and run unmodified;
docs/python.md says what is kept and what is refused. Nothing is imported before it is asked for.
"""

import os as _os

from hocket import _core as _core

_core._add_package_directory(_os.path.dirname(__file__) + _os.sep)

_REGISTRY = ("init", "Collective", "tabulate_plans", "print_plans", "ndv2_perm")


def __getattr__(name):
    if name in _REGISTRY:
        from msccl.autosynth import registry

        return getattr(registry, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_REGISTRY])
