"""Allreduce in two exchanges between all pairs: every rank sums its share of everybody's chunks."""

from msccl.language import Buffer, chunk


def allreduce_allpairs(size):
    """In-place allreduce of `size` ranks with chunk factor size*size, threadblocks placed by hand: one for
    each peer to exchange, `size` of them to sum."""
    for source in range(size):
        for owner in range(size):
            if source != owner:
                share = chunk(source, Buffer.input, owner * size, size)
                share.copy(owner, "shares", sendtb=owner, recvtb=source)
    for owner in range(size):
        for i in range(size * (size - 1)):
            place = i % size
            mine = chunk(owner, Buffer.input, owner * size + place)
            mine.reduce(chunk(owner, "shares", i), sendtb=place)
    for owner in range(size):
        for peer in range(size):
            if peer != owner:
                share = chunk(owner, Buffer.input, owner * size, size)
                share.copy(peer, Buffer.input, owner * size, sendtb=peer, recvtb=owner)
