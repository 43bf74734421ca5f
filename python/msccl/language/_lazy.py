"""Standard modules and decorators that the original leaks into programs, imported when they are used:
`dataclasses` alone takes longer to import than this whole package."""

import types


class LazyModule(types.ModuleType):
    """The modules of `names` as one: an attribute is that of the first that is there and has it.
    Imported at the first use."""

    def __init__(self, *names):
        super().__init__(names[0])
        self.__dict__["_names"] = names

    def __getattr__(self, attribute):
        import importlib

        for name in self._names:
            try:
                return getattr(importlib.import_module(name), attribute)
            except (ImportError, AttributeError):
                if name == self._names[-1]:
                    raise


def dataclass(cls=None, /, **options):
    import dataclasses

    return dataclasses.dataclass(cls, **options)


def field(**options):
    import dataclasses

    return dataclasses.field(**options)
