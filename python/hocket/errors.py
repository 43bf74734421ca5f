"""Exceptions and warnings.

Every mistake of the user's is an :class:`Error` that carries a diagnostic: a stable code, a message,
the user's line, a hint. Each code has a subclass of its own, named after the table of codes
(``hocket.errors.NoLinkError``), which is also a builtin exception where one fits: a rank out of range
is an ``IndexError`` too.
"""

from __future__ import annotations

from hocket import _core


class Error(Exception):
    """A mistake of the user's. ``str()`` is the text that the command line prints.

    Attributes: ``code`` ('HK0101'), ``message``, ``location`` (file and line), ``hint``, ``notes``,
    and ``diagnostics``, the list of diagnostics that these come from.
    """

    def __init__(self, diagnostic: _core.Diagnostic) -> None:
        super().__init__(str(diagnostic))
        self.diagnostics: list[_core.Diagnostic] = [diagnostic]
        self.code: str = diagnostic.code
        self.message: str = diagnostic.message
        self.location: _core.Location = diagnostic.location
        self.hint: str = diagnostic.hint
        self.notes: list[_core.Note] = diagnostic.notes

    def __str__(self) -> str:
        return self.args[0]


class InternalError(RuntimeError):
    """A mistake of ours. Please report it."""


class HocketWarning(UserWarning):
    """Something worth saying that stops nothing."""


class HocketDeprecationWarning(HocketWarning, DeprecationWarning):
    """A call shape of an older release (HK0123)."""


# The builtin exceptions that an error of a code also is: those that Python programmers expect there,
# and those that programs written for the original language catch.
_ALSO: dict[str, tuple[type[Exception], ...]] = {
    "RankOutOfRange": (IndexError,),
    "IndexOutOfRange": (IndexError,),
    "UninitialisedChunk": (AssertionError, KeyError, AttributeError),
    "BadSize": (ValueError,),
    "GroupMismatch": (AssertionError,),
    "GroupGap": (AssertionError,),
    "SplitUneven": (AssertionError,),
    "NoLink": (AssertionError,),
    "ReduceUninitialised": (AssertionError, AttributeError),
    "ReduceSizeMismatch": (AssertionError,),
    "OverlappingCopy": (ValueError,),
    "SelfReduce": (ValueError,),
    "BadChannel": (ValueError,),
    "BadThreadblock": (ValueError,),
    "BadInstances": (ValueError,),
    "BadProtocol": (AssertionError, ValueError),
    "ForeignRef": (ValueError,),
    "NestedFragment": (RuntimeError,),
    "MissingIndex": (IndexError,),
    "NoContext": (RuntimeError,),
    "BadTopology": (ValueError,),
    "BadBufferName": (TypeError,),
    "BadCollective": (ValueError, TypeError),
    "TopologyMismatch": (IndexError,),
    "WrongResult": (AssertionError,),
    "BadBuffers": (ValueError,),
    "BadType": (ValueError,),
    "UnknownAlgorithm": (ValueError,),
    "BadParameter": (ValueError,),
}

_NAMES: dict[str, str] = {code: name for code, name, _ in _core.codes()}
_classes: dict[str, type[Error]] = {}


def _class_of(name: str) -> type[Error]:
    made = _classes.get(name)
    if made is None:
        bases = (Error, *_ALSO.get(name, ()))
        title = name if name.endswith("Error") else name + "Error"
        made = type(title, bases, {"__module__": __name__, "__str__": Error.__str__})
        _classes[name] = made
    return made


def _make(diagnostic: _core.Diagnostic) -> Error:
    return _class_of(_NAMES[diagnostic.code])(diagnostic)


def _warning_category(code: str) -> type[Warning]:
    return HocketDeprecationWarning if _NAMES[code] == "DeprecatedCall" else HocketWarning


def __getattr__(name: str) -> type[Error]:
    if name.endswith("Error") and name.removesuffix("Error") in _NAMES.values():
        return _class_of(name.removesuffix("Error"))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    classes = [name + "Error" for name in _NAMES.values()]
    return sorted([*globals(), *classes])


_core._set_hooks(_make, InternalError, _warning_category)
