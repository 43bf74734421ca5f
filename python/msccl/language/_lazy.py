"""Standard modules and decorators that the original leaks into programs, imported when they are used:
`dataclasses` alone takes longer to import than this whole package."""

import types


class LazyModule(types.ModuleType):
    """The module of one of `names`, the first that is there, imported at the first use."""

    def __init__(self, *names):
        super().__init__(names[0])
        self.__dict__["_names"] = names

    def __getattr__(self, attribute):
        import importlib

        for name in self._names:
            try:
                module = importlib.import_module(name)
                break
            except ImportError:
                if name == self._names[-1]:
                    raise
        return getattr(module, attribute)


def dataclass(cls=None, /, **options):
    import dataclasses

    return dataclasses.dataclass(cls, **options)


def field(**options):
    import dataclasses

    return dataclasses.field(**options)
