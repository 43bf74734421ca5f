"""`prog.instr_dag`: the operations of a program as a graph over slots, made from the trace when it is
looked at. It shows what the program said, before the compiler fuses anything."""

from msccl.language.buffer import Buffer
from msccl.language.ir import Instruction


class Node:
    """One instruction: `inst`, its place, and its neighbours in the order of slots."""

    __slots__ = ("inst", "rank", "buffer", "index", "size", "prev", "next", "match")

    def __init__(self, inst, rank, buffer, index, size):
        self.inst = inst
        self.rank = rank
        self.buffer = buffer
        self.index = index
        self.size = size
        self.prev = []
        self.next = []
        self.match = []

    def cnt(self):
        return self.size

    def __repr__(self):
        return f"<{self.inst} rank {self.rank} {self.buffer}[{self.index}] x{self.size}>"


class InstructionDAG:
    """`operations[(rank, buffer, index)]` is the start of a slot: what it held before the program, or
    the first write to it. A read follows the last write; a write follows the reads since the last
    write, or that write."""

    def __init__(self, num_ranks, buffers):
        self.num_ranks = num_ranks
        self.buffers = buffers
        self.operations = {}
        self._writer = {}
        self._readers = {}

    @classmethod
    def _of_program(cls, program):
        dag = cls(program.num_ranks, program.buffers)
        for rank in range(program.num_ranks):
            inputs = program._size(rank, Buffer.input)
            for i in range(min(inputs, program._inputs(rank))):
                place = program.collective.get_buffer_index(rank, Buffer.input, i)
                dag._write(Node(Instruction.start, rank, *place, 1))
        for kind, src, src_buf, src_i, dst, dst_buf, dst_i, count, *_ in program._trace():
            local = src == dst
            if kind == "copy":
                first = Instruction.copy if local else Instruction.send
                second = Instruction.copy if local else Instruction.recv
            else:
                first = Instruction.reduce if local else Instruction.send
                second = Instruction.reduce if local else Instruction.recv_reduce_copy
            reader = Node(first, src, src_buf, src_i, count)
            dag._read(reader)
            writer = reader
            if local:
                writer.buffer, writer.index = dst_buf, dst_i
            else:
                writer = Node(second, dst, dst_buf, dst_i, count)
                reader.match.append(writer)
                writer.match.append(reader)
            dag._write(writer)
        return dag

    def _slots(self, node):
        return [(node.rank, node.buffer, i) for i in range(node.index, node.index + node.size)]

    def _read(self, node):
        for slot in self._slots(node):
            if slot in self._writer:
                _follow(self._writer[slot], node)
            self._readers.setdefault(slot, []).append(node)

    def _write(self, node):
        for slot in self._slots(node):
            self.operations.setdefault(slot, node)
            readers = [reader for reader in self._readers.get(slot, ()) if reader is not node]
            before = readers or ([self._writer[slot]] if slot in self._writer else [])
            for earlier in before:
                _follow(earlier, node)
            self._writer[slot] = node
            self._readers[slot] = []


def _follow(earlier, later):
    if not any(node is later for node in earlier.next):
        earlier.next.append(later)
        later.prev.append(earlier)


def same_tb(op1, op2):
    return op1.tb == op2.tb and op1.channel == op2.channel


def same_count(op1, op2):
    return op1.cnt() == op2.cnt()


def same_buf_dst(op1, op2):
    return op1.dst.buffer == op2.dst.buffer and op1.dst.index == op2.dst.index


def remove_op(op):
    """Takes an operation out of a graph: what came before it now comes before what came after it."""
    for earlier in op.prev:
        earlier.next.remove(op)
        earlier.next.extend(later for later in op.next if later not in earlier.next)
    for later in op.next:
        later.prev.remove(op)
        later.prev.extend(earlier for earlier in op.prev if earlier not in later.prev)
