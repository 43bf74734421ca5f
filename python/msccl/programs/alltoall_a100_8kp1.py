"""Three-step alltoall: gather on one GPU of the node, one message between two nodes, scatter."""

from msccl.language import Buffer, chunk


def alltoall_three_step(num_nodes, gpus_per_node, instances=1, ib_connections=1):
    """Out-of-place alltoall of num_nodes * gpus_per_node ranks, chunk factor 1. What node n1 has for node
    n2 crosses in `ib_connections` messages, each on a channel of its own. `instances` spreads the copies
    inside a node over that many channels."""
    gpus = range(gpus_per_node)
    total = gpus_per_node * gpus_per_node
    if total % ib_connections != 0:
        raise ValueError(
            f"{total} chunks between two nodes over {ib_connections} connections, but they must be "
            "equal parts"
        )

    def rank(node, gpu):
        return node * gpus_per_node + gpu

    for n1 in range(num_nodes):
        for n2 in range(num_nodes):
            sender, receiver = rank(n1, n2 % gpus_per_node), rank(n2, n1 % gpus_per_node)
            for g2 in gpus:
                for g1 in gpus:
                    c = chunk(rank(n1, g1), Buffer.input, rank(n2, g2))
                    if n1 == n2:
                        c.copy(rank(n2, g2), Buffer.output, rank(n1, g1), ch=g1 % instances)
                    else:
                        c.copy(sender, (n1, n2), g2 * gpus_per_node + g1, ch=g1 % instances)
            if n1 == n2:
                continue
            for i, part in enumerate(chunk(sender, (n1, n2), 0, total).split(ib_connections)):
                part.copy(receiver, (n1, n2), part.index, ch=i)
            for g2 in gpus:
                c = chunk(receiver, (n1, n2), g2 * gpus_per_node, gpus_per_node)
                c.copy(rank(n2, g2), Buffer.output, rank(n1, 0))
