"""A ring allreduce whose chunks travel on several channels."""

from msccl.language import Buffer, chunk


def allreduce_ring(size, channels):
    """In-place allreduce of `size` ranks. The program's chunk factor is a multiple of `size`; by default
    each of the `size` chunks goes once around to be summed and once more to be spread, chunk i on channel
    i mod `channels`."""
    for index in range(size):
        channel = index % channels
        total = chunk(index, Buffer.input, index)
        for hop in range(1, size):
            total = chunk((index + hop) % size, Buffer.input, index).reduce(total, ch=channel)
        for hop in range(size, 2 * size - 1):
            total = total.copy((index + hop) % size, Buffer.input, index, ch=channel)
