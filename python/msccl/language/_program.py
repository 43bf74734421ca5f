"""MSCCLProgram and the free functions of the current program."""

import os
import sys

from hocket import _core
from msccl.language._numbers import as_int
from msccl.language._views import Buffers, chunk_at
from msccl.language.ir import ThreadblockPolicy


class MSCCLProgram(_core.DropInProgram):
    """A program in the original language's shape. Use it in ``with``: the free functions chunk(), XML()
    and Check() speak of the program of the innermost ``with`` of their thread."""

    def __init__(
        self,
        name,
        topo,
        collective,
        instances,
        protocol="Simple",
        threadblock_policy=ThreadblockPolicy.auto,
        interleaved_replication=True,
        instr_fusion=True,
        check_xml=True,
        dependence_nop=False,
    ):
        from msccl.language._describe import describe
        from msccl.topologies.topology import to_core

        described, self_chunks = describe(collective)
        super().__init__(
            name=_text(name),
            topology=to_core(topo),
            protocol=str(protocol),
            instances=as_int("HK0116", "instances", instances),
            manual=threadblock_policy == ThreadblockPolicy.manual,
            batched=not interleaved_replication,
            fuse=bool(instr_fusion),
            dependence_nop=bool(dependence_nop),
            **described,
        )
        self.name = name
        self.topo = topo
        self.collective = collective
        self.num_ranks = topo.num_nodes()
        self.instances = instances
        self.protocol = protocol
        self.threadblock_policy = threadblock_policy
        self.interleaved_replication = interleaved_replication
        self.instr_fusion = instr_fusion
        self.check_xml = check_xml
        self.dependence_nop = dependence_nop
        self.run_opt = True
        self._chunks = self_chunks
        self._built_in = self_chunks is None

    def __enter__(self):
        self._enter()
        return self

    def __exit__(self, kind, error, trace):
        self._leave()
        if kind is AttributeError and "'NoneType' object" in str(error) and self._last_nothing:
            error.add_note(self._last_nothing)
        return False

    @property
    def buffers(self):
        """What every slot holds now: ``buffers[rank][Buffer.input][index]``."""
        return Buffers(self)

    @property
    def instr_dag(self):
        """The operations traced so far as a graph over slots."""
        from msccl.language.rank_dag import InstructionDAG

        return InstructionDAG._of_program(self)

    def get_ref(self, rank, buffer, index, size):
        """The place, by the collective's names."""
        ref = self._ref(rank, buffer, index, size)
        if ref is None:
            _core._make_error(
                "HK0103", f"a Ref of rank {rank} buffer {buffer}[{index}], which nobody has written"
            )
        return ref

    def get_chunks(self, rank, buffer, index, size=1):
        """What lies in `size` slots; None past the end."""
        length = self._size(rank, buffer)
        return [
            chunk_at(self, rank, buffer, i) if 0 <= i < length else None
            for i in range(index, index + size)
        ]

    def check(self):
        """Asks the collective. What it prints goes to stderr, so that it never ends up in the XML."""
        stdout, sys.stdout = sys.stdout, sys.stderr
        try:
            result = self.collective.check(self)
        finally:
            sys.stdout = stdout
        if result is False and os.environ.get("HOCKET_STRICT_CHECK", "") not in ("", "0"):
            _core._make_error(
                "HK0203", f"program {self.name} does not implement its collective (see above)"
            )
        return result

    def lower(self):
        """The compiled program as data classes. Can be called again, and after more operations."""
        from msccl.language._lowered import lowered

        algorithm = self._algorithm()
        return lowered(algorithm, self.collective.name, self._xml(algorithm))

    def generate_xml(self):
        """The compiled program as XML."""
        return self._xml(self._algorithm())

    def to_algorithm(self):
        """The compiled program as a hocket.Algorithm: to run, to look at, to write for another target."""
        return self._algorithm()

    def verify(self, algorithm=None, **options):
        """Proves the compiled program right in every schedule, or shows why it is not: a
        hocket.VerifyReport. `options` are those of hocket.verify().

        A collective of your own is asked too: its check() is called with the program as compiled, whose
        buffers hold what the algorithm leaves there. `algorithm`: one from elsewhere, as read from a
        file, to verify against this program's collective in place of its own."""
        from msccl.language._compiled import verify

        return verify(self, algorithm, options)

    def to_post_json(self):
        """What the compiled program computes, as a postcondition file: for `hocket verify FILE --post` of
        the XML, which cannot say it. Of a collective of your own that is what the program leaves in every
        input and output slot; its check() must approve."""
        if self.check() is False:
            _core._make_error(
                "HK0203", f"program {self.name} does not implement its collective (see above)"
            )
        return _core._traced_collective(
            self, as_int("HK0116", "instances", self.instances), not self.interleaved_replication
        ).to_post_json()

    def _algorithm(self, check_xml=True):
        return self._lower(
            protocol=str(self.protocol),
            instances=as_int("HK0116", "instances", self.instances),
            manual=self.threadblock_policy == ThreadblockPolicy.manual,
            batched=not self.interleaved_replication,
            fuse=bool(self.instr_fusion),
            dependence_nop=bool(self.dependence_nop),
            check_xml=check_xml and bool(self.check_xml),
            in_place=bool(self.collective.inplace),
            **self._named(),
        )

    def _xml(self, algorithm):
        return _core._dropin_xml(
            algorithm, _text(self.name), instances=self.instances, **self._named()
        )

    def _named(self):
        factor = self.collective.chunk_factor
        return {
            "collective": _text(self.collective.name),
            "chunk_factor": factor if isinstance(factor, int) else 1,
        }


def _text(name):
    """str(name); half of a surrogate pair, which no file can hold, as its escape."""
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")


def _current():
    program = _core._current_program()
    if program is None:
        _core._make_error(
            "HK0122", "No Program in context", "call it inside `with MSCCLProgram(...):`"
        )
    return program


def XML():
    """Prints the current program's XML on stdout."""
    print(_current().generate_xml())


def Check():
    """Asks the current program's collective whether the program implements it."""
    return _current().check()


def Print():
    """Prints the operations of the current program, one a line."""
    for kind, src, src_buffer, src_index, dst, dst_buffer, dst_index, count, *_ in _current()._trace():
        print(f"{kind} rank {src} {src_buffer}[{src_index}] -> rank {dst} {dst_buffer}[{dst_index}] x{count}")


def create_scratch(rank, name):
    """Does nothing: a scratch buffer comes into being with the first copy into it."""
    _current()
