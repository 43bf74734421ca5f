"""A program once compiled, as its collective's check() sees it."""

import sys

import hocket
from hocket import _core
from msccl.language._views import Buffers


class CompiledState:
    """The program, but with what an algorithm leaves in the input and output buffers. An algorithm shares
    scratch out anew, so scratch buffers show what the program as traced leaves there."""

    _built_in = False

    def __init__(self, program, contents):
        self._program = program
        self._contents = contents

    def __getattr__(self, name):
        return getattr(self._program, name)

    @property
    def buffers(self):
        return Buffers(self)

    def get_chunks(self, rank, buffer, index, size=1):
        return type(self._program).get_chunks(self, rank, buffer, index, size)

    def _content(self, rank, buffer, index):
        if buffer in self._program._scratch_names(rank):
            return self._program._content(rank, buffer, index)
        return _core._compiled_content(
            self._program,
            self._contents,
            rank,
            buffer,
            index,
            batched=not self._program.interleaved_replication,
        )


def verify(program, algorithm, options):
    """What MSCCLProgram.verify() does."""
    if not isinstance(algorithm, (_core.Algorithm, type(None))):
        raise TypeError(f"verify() takes a hocket.Algorithm, not {type(algorithm).__name__}")
    if algorithm is None:
        algorithm = program._algorithm(check_xml=False)
    collective = _core._own_collective(program, algorithm)
    options.setdefault("collective", collective)
    if program._built_in:
        return _core.verify(algorithm, **options)

    def check(contents):
        stdout, sys.stdout = sys.stdout, sys.stderr
        try:
            return program.collective.check(CompiledState(program, contents))
        except hocket.errors.WrongContentError as error:
            return error.message
        finally:
            sys.stdout = stdout

    options.setdefault("in_place", collective.in_place)
    options.setdefault("check", check)
    return _core.verify(algorithm, **options)
