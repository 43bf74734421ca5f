"""Buffers of a rank, by the original language's names."""

from enum import Enum

from hocket import _core


class Buffer(Enum):
    """A rank's input, output or unnamed scratch buffer. Any other hashable object names a scratch
    buffer too."""

    input = "i"
    output = "o"
    scratch = "s"

    def __str__(self):
        return self.value

    def __lt__(self, other):
        return self.value < other.value

    def __gt__(self, other):
        return self.value > other.value


_core._set_buffer_members(Buffer.input, Buffer.output, Buffer.scratch)


class BufferSlice:
    """A named scratch buffer of a rank: a list of chunks that grows as it is written."""

    def __init__(self, buf, name):
        self.name = name
        self.buf = buf
        self.offset = -1
        self.chunks = []

    def instance_size(self):
        return len(self.chunks)

    def set_offset(self, offset):
        self.offset = offset

    def get_global_index(self, index):
        if self.offset < 0:
            raise AssertionError("set_offset() must be called first")
        return self.offset + index

    def get_buffer(self):
        return self.buf

    def __getitem__(self, index):
        return self.chunks[index]

    def __setitem__(self, index, value):
        missing = index + 1 - len(self.chunks)
        if missing > 0:
            self.chunks.extend([None] * missing)
        self.chunks[index] = value

    def __len__(self):
        return len(self.chunks)

    def __iter__(self):
        return iter(self.chunks)
