"""Two-step alltoall: what goes to another node is first gathered on the GPU with the receiver's number, so
that one message crosses between two GPUs of two nodes."""

from msccl.language import Buffer, chunk


def alltoall_hierarchical(num_nodes, gpus_per_node):
    """Out-of-place alltoall of num_nodes * gpus_per_node ranks, chunk factor 1. Any node width."""
    gpus = range(gpus_per_node)

    def rank(node, gpu):
        return node * gpus_per_node + gpu

    for n1 in range(num_nodes):
        for n2 in range(num_nodes):
            for g2 in gpus:
                receiver = rank(n2, g2)
                for g1 in gpus:
                    c = chunk(rank(n1, g1), Buffer.input, receiver)
                    if n1 == n2:
                        c.copy(receiver, Buffer.output, rank(n1, g1))
                    else:
                        c.copy(rank(n1, g2), f"to node {n2}", g1)
                if n1 != n2:
                    gathered = chunk(rank(n1, g2), f"to node {n2}", 0, gpus_per_node)
                    gathered.copy(receiver, Buffer.output, rank(n1, 0))
