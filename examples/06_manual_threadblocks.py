"""Placing everything by hand.

The compiler chooses threadblocks and channels well, but who tunes for one machine may want to. With
manual placement every operation names the threadblock that sends, the one that receives, and the
channel. A threadblock has at most one peer to send to and one to receive from, on one channel; a
placement that breaks this is refused, with the two operations that clash.

The program: two ranks swap their chunks, each sending with threadblock 0 and receiving with 1.

What you see here: placement, send_tb and recv_tb, what a threadblock is in the compiled algorithm,
HK0301.
"""

import hocket
from hocket import Buffer


def swap(ranks, clash):
    p = hocket.Program(
        "swap", hocket.fully_connected(ranks), hocket.alltoall(ranks, 1), placement="manual"
    )
    for r in range(ranks):
        for other in range(ranks):
            mine = p.chunk(r, Buffer.input, other)
            if other == r:
                mine.copy(r, Buffer.output, r, ch=0, send_tb=0)
                continue
            # One sending and one receiving threadblock a peer; with a clash, one for all peers.
            hop = 0 if clash else (other - r) % ranks - 1
            back = 0 if clash else (r - other) % ranks - 1
            mine.copy(other, Buffer.output, r, ch=0, send_tb=2 * hop, recv_tb=2 * back + 1)
    return p


def main():
    p = swap(2, False)
    p.check().require()
    for rank in hocket.compile(p).ranks:
        for tb in rank.threadblocks:
            steps = " ".join(step.op for step in tb.steps)
            print(
                f"rank {rank.rank} threadblock {tb.id} (send {tb.send}, recv {tb.recv},"
                f" channel {tb.channel}): {steps}"
            )

    clashing = swap(3, True)
    try:
        hocket.compile(clashing)
    except hocket.Error as error:
        print(f"{error.code}: {error.message}")


if __name__ == "__main__":
    main()
