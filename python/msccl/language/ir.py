"""Instructions, policies, and what a program is lowered to."""

from enum import Enum

from msccl.language.buffer import Buffer, BufferSlice  # noqa: F401


class Instruction(Enum):
    start = "start"
    nop = "nop"
    send = "s"
    recv = "r"
    recv_copy_send = "rcs"
    recv_reduce_send = "rrs"
    recv_reduce_copy = "rrc"
    recv_reduce_copy_send = "rrcs"
    copy = "cpy"
    reduce = "re"
    delete = "d"

    def __str__(self):
        return self.value


class ChunkInstruction(Enum):
    start = "start"
    reduce = "reduce"
    send = "send"

    def __str__(self):
        return self.value


class ThreadblockPolicy(Enum):
    """Who chooses threadblocks: the compiler, or the program."""

    auto = "auto"
    manual = "manual"

    def __str__(self):
        return self.value


# Made with `dataclasses`, which takes longer to import than the rest of the language together, so
# only when asked for.
_LOWERED = ("ChunkRef", "Gpu", "Op", "Program", "Threadblock", "ir_to_xml")


def __getattr__(name):
    if name in _LOWERED:
        from msccl.language import _lowered

        return getattr(_lowered, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *_LOWERED])


__all__ = ["Buffer", "BufferSlice", "Instruction", "ChunkInstruction", "ThreadblockPolicy", *_LOWERED]
