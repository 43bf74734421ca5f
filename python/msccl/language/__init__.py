"""The original language: MSCCLProgram, chunk(), XML(), Check() and what they speak of."""

import functools
import heapq
import sys
from collections import defaultdict
from enum import Enum

import msccl as _msccl  # noqa: F401  (its frames are ours: messages name the user's line)
from hocket._core import DropInRef as Ref
from hocket._core import _dropin_chunk
from msccl.language._lazy import LazyModule as _LazyModule
from msccl.language._lazy import dataclass, field
from msccl.language._program import Check, MSCCLProgram, Print, XML, create_scratch
from msccl.language.buffer import Buffer, BufferSlice
from msccl.language.chunk import Chunk, ReduceChunk
from msccl.language.ir import ChunkInstruction, Instruction, ThreadblockPolicy
from msccl.language.passes import check_dependency_cycles, check_threadblock_ordering
from msccl.language.rank_dag import InstructionDAG, remove_op, same_buf_dst, same_count, same_tb
from msccl.language.tb_assignment import (
    auto_assign_tbs,
    channel_assignment,
    manual_assign_tbs,
    topo_sort_instrs,
)

# After the module of the same name, which importing it has put here.
chunk = _dropin_chunk
ET = _LazyModule("lxml.etree", "xml.etree.ElementTree")
# The original's name for the synthesis collectives. It hides the standard module from programs that
# import * after it, so that module's names are here too.
collections = _LazyModule("msccl.collectives", "collections")

_LOWERED = ("ChunkRef", "Gpu", "Op", "Program", "Threadblock", "ir_to_xml")


def __getattr__(name):
    if name in _LOWERED:
        from msccl.language import _lowered

        return getattr(_lowered, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Buffer",
    "BufferSlice",
    "Check",
    "Chunk",
    "ChunkInstruction",
    "ChunkRef",
    "ET",
    "Enum",
    "Gpu",
    "Instruction",
    "InstructionDAG",
    "MSCCLProgram",
    "Op",
    "Print",
    "Program",
    "ReduceChunk",
    "Ref",
    "Threadblock",
    "ThreadblockPolicy",
    "XML",
    "auto_assign_tbs",
    "channel_assignment",
    "check_dependency_cycles",
    "check_threadblock_ordering",
    "chunk",
    "collections",
    "create_scratch",
    "dataclass",
    "defaultdict",
    "field",
    "functools",
    "heapq",
    "ir_to_xml",
    "manual_assign_tbs",
    "remove_op",
    "same_buf_dst",
    "same_count",
    "same_tb",
    "sys",
    "topo_sort_instrs",
]
