"""A lowered program as plain data: ranks, threadblocks, operations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hocket import _core
from msccl.language.buffer import Buffer
from msccl.language.ir import Instruction


@dataclass
class ChunkRef:
    rank: int
    buffer: Any
    index: int
    size: int

    def __hash__(self):
        return hash((self.rank, self.buffer, self.index, self.size))


@dataclass
class Op:
    """One instruction. `src` and `dst` are places of the executing rank; None where the instruction
    has none. `depends` are the operations of the same rank that it waits for."""

    inst: Instruction
    rank: int
    src: ChunkRef | None
    dst: ChunkRef | None
    depends: list = field(default_factory=list, repr=False)
    step: int = -1
    tb: int = -1
    prev: list = field(default_factory=list, repr=False)
    next: list = field(default_factory=list, repr=False)
    channel: int = -1
    size: int = 0

    def cnt(self):
        return self.size

    def is_send(self):
        return self.inst in (
            Instruction.send,
            Instruction.recv_copy_send,
            Instruction.recv_reduce_send,
            Instruction.recv_reduce_copy_send,
        )

    def is_recv(self):
        return self.inst in (
            Instruction.recv,
            Instruction.recv_copy_send,
            Instruction.recv_reduce_send,
            Instruction.recv_reduce_copy,
            Instruction.recv_reduce_copy_send,
        )

    def is_fused(self):
        return self.is_send() and self.is_recv()

    def is_local(self):
        return self.inst in (Instruction.copy, Instruction.reduce)


@dataclass
class Threadblock:
    channel: int = -1
    send: int = -1
    recv: int = -1
    ops: list = field(default_factory=list)
    rbid: int = -1
    id: int = -1

    def __hash__(self):
        return self.id


@dataclass
class Gpu:
    rank: int
    threadblocks: list
    precopies: list = field(default_factory=list)
    postcopies: list = field(default_factory=list)
    inputs: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=dict)
    input_chunks: int = 0
    output_chunks: int = 0
    scratch_chunks: int = 0


@dataclass
class Program:
    name: str
    collective: str
    inplace: bool
    protocol: str
    gpus: list = field(default_factory=list)


_BUFFERS = {"input": Buffer.input, "output": Buffer.output, "scratch": Buffer.scratch}
_READS_SRC = ("s", "rrs", "rrc", "rrcs", "cpy", "re")
_WRITES_DST = ("r", "rcs", "rrc", "rrcs", "cpy", "re")


def lowered(algorithm: _core.Algorithm, collective: str, xml: str) -> Program:
    """The algorithm as the original's data classes. `xml` is what ir_to_xml() will say of it."""
    gpus = []
    for rank in algorithm.ranks:
        threadblocks = []
        for tb in rank.threadblocks:
            ops = [_op(rank.rank, tb, i, step) for i, step in enumerate(tb.steps)]
            threadblocks.append(
                Threadblock(channel=tb.channel, send=tb.send, recv=tb.recv, ops=ops, id=tb.id)
            )
        for tb, made in zip(rank.threadblocks, threadblocks):
            for op, step in zip(made.ops, tb.steps):
                if step.depend_tb >= 0:
                    waited = threadblocks[step.depend_tb].ops[step.depend_step]
                    op.depends.append(waited)
                    op.prev.append(waited)
                    waited.next.append(op)
        gpus.append(
            Gpu(
                rank.rank,
                threadblocks,
                input_chunks=rank.input_chunks,
                output_chunks=rank.output_chunks,
                scratch_chunks=rank.scratch_chunks,
            )
        )
    program = Program(algorithm.name, collective, algorithm.in_place, algorithm.protocol, gpus)
    program._xml = xml
    return program


def _op(rank, tb, number, step):
    def place(used, buffer, offset):
        return ChunkRef(rank, _BUFFERS[buffer.kind], offset, step.count) if used else None

    return Op(
        Instruction(step.op),
        rank,
        place(step.op in _READS_SRC, step.src_buffer, step.src_offset),
        place(step.op in _WRITES_DST, step.dst_buffer, step.dst_offset),
        step=number,
        tb=tb.id,
        channel=tb.channel,
        size=step.count,
    )


def ir_to_xml(program, old_format=True, use_scratch=True, pretty_print=True, dependence_nop=False):
    """The XML of a program that MSCCLProgram.lower() returned."""
    xml = getattr(program, "_xml", None)
    if xml is None:
        raise TypeError("ir_to_xml() takes what MSCCLProgram.lower() returns")
    if not (old_format and use_scratch and pretty_print) or dependence_nop:
        raise ValueError(
            "ir_to_xml() writes one format; say dependence_nop to MSCCLProgram, before lowering"
        )
    return xml
