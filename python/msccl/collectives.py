"""The synthesis side's collectives: which nodes have a chunk before, and which must have it after.

Data only: it describes what a synthesiser would solve for.
"""


class Chunk:
    """`precondition` and `postcondition` are sets of nodes; `address` is where it lies in a buffer."""

    def __init__(self, precondition, postcondition, address):
        self.precondition = precondition
        self.postcondition = postcondition
        self.address = address

    def __repr__(self):
        return f"Chunk({self.precondition}, {self.postcondition}, {self.address})"


class Collective:
    def __init__(self, name, num_nodes, chunks, triggers=None, runtime_name="custom"):
        self.name = name
        self.num_nodes = num_nodes
        self.num_chunks = len(chunks)
        self._chunks = chunks
        self._triggers = triggers or {}
        self.runtime_name = runtime_name
        self.is_combining = bool(self._triggers)

    def ranks(self):
        return range(self.num_nodes)

    nodes = ranks

    def chunks(self):
        return range(self.num_chunks)

    def precondition(self, rank, chunk):
        return rank in self._chunks[chunk].precondition

    def postcondition(self, rank, chunk):
        return rank in self._chunks[chunk].postcondition

    def address(self, chunk):
        return self._chunks[chunk].address

    def pre_on(self, rank):
        return [c for c in self.chunks() if self.precondition(rank, c)]

    def post_on(self, rank):
        return [c for c in self.chunks() if self.postcondition(rank, c)]

    def trigger(self, rank, chunk):
        return self._triggers.get((rank, chunk))

    def has_triggers(self):
        return bool(self._triggers)

    def chunk_up(self, div):
        """Every chunk cut into `div`."""
        if div < 1:
            raise ValueError(f"chunks cut into {div} parts, but there must be at least 1")
        if div == 1:
            return self
        chunks = [
            Chunk(c.precondition, c.postcondition, c.address * div + part)
            for c in self._chunks
            for part in range(div)
        ]
        triggers = {
            (rank, chunk * div + part): other * div + part
            for (rank, chunk), other in self._triggers.items()
            for part in range(div)
        }
        return Collective(f"{self.name},chunks={div}", self.num_nodes, chunks, triggers, self.runtime_name)

    def __repr__(self):
        return f"Collective({self.name!r}, {self.num_nodes} nodes, {self.num_chunks} chunks)"


def build_collective(
    name,
    num_nodes,
    num_chunks,
    precondition,
    postcondition,
    address=lambda chunk: chunk,
    trigger=lambda rank, chunk: None,
    runtime_name="custom",
):
    """A collective from predicates precondition(rank, chunk) and postcondition(rank, chunk)."""
    chunks, triggers = [], {}
    for chunk in range(num_chunks):
        before = {rank for rank in range(num_nodes) if precondition(rank, chunk)}
        after = {rank for rank in range(num_nodes) if postcondition(rank, chunk)}
        for rank in range(num_nodes):
            other = trigger(rank, chunk)
            if other is not None:
                triggers[(rank, chunk)] = other
        chunks.append(Chunk(before, after, address(chunk)))
    return Collective(name, num_nodes, chunks, triggers, runtime_name)


def _everywhere(rank, chunk):
    return True


def broadcast(num_nodes, root):
    return build_collective(
        f"Broadcast(n={num_nodes},root={root})", num_nodes, 1, lambda r, c: r == root, _everywhere,
        runtime_name="broadcast",
    )  # fmt: skip


def reduce(num_nodes, root):
    return build_collective(
        f"Reduce(n={num_nodes},root={root})", num_nodes, num_nodes, lambda r, c: r == c,
        lambda r, c: r == root, lambda c: 0, _combine(num_nodes), runtime_name="reduce",
    )  # fmt: skip


def scatter(num_nodes, root):
    return build_collective(
        f"Scatter(n={num_nodes},root={root})", num_nodes, num_nodes, lambda r, c: r == root,
        lambda r, c: r == c, runtime_name="scatter",
    )  # fmt: skip


def gather(num_nodes, root):
    return build_collective(
        f"Gather(n={num_nodes},root={root})", num_nodes, num_nodes, lambda r, c: r == c,
        lambda r, c: r == root, runtime_name="gather",
    )  # fmt: skip


def allgather(num_nodes):
    return build_collective(
        f"Allgather(n={num_nodes})", num_nodes, num_nodes, lambda r, c: r == c, _everywhere,
        runtime_name="allgather",
    )  # fmt: skip


def allreduce(num_nodes):
    return build_collective(
        f"Allreduce(n={num_nodes})", num_nodes, num_nodes, lambda r, c: r == c, _everywhere,
        lambda c: 0, _combine(num_nodes), runtime_name="allreduce",
    )  # fmt: skip


def reduce_scatter(num_nodes):
    n = num_nodes
    return build_collective(
        f"ReduceScatter(n={n})", n, n * n, lambda r, c: r == c // n, lambda r, c: r == c % n,
        lambda c: c % n, lambda r, c: (c + n) % (n * n) if n > 1 else None,
        runtime_name="reduce_scatter",
    )  # fmt: skip


def scan(num_nodes):
    return build_collective(
        f"Scan(n={num_nodes})", num_nodes, num_nodes, lambda r, c: r == c, lambda r, c: r >= c,
        lambda c: 0, lambda r, c: c + 1 if c < r else None,
    )  # fmt: skip


def alltoall(num_nodes):
    n = num_nodes
    return build_collective(
        f"Alltoall(n={n})", n, n * n, lambda r, c: r == c % n, lambda r, c: r == c // n,
        lambda c: c, runtime_name="alltoall",
    )  # fmt: skip


def multiroot_broadcast(num_nodes, roots):
    return build_collective(
        f"MultirootBroadcast(n={num_nodes},roots=({_listed(roots)}))", num_nodes, len(roots),
        lambda r, c: r == roots[c], _everywhere,
    )  # fmt: skip


def multiroot_scatter(num_nodes, roots):
    return build_collective(
        f"MultirootScatter(n={num_nodes},roots=({_listed(roots)}))", num_nodes,
        len(roots) * num_nodes, lambda r, c: r == roots[c // num_nodes],
        lambda r, c: r == c % num_nodes,
    )  # fmt: skip


def multiroot_gather(num_nodes, roots):
    return build_collective(
        f"MultirootGather(n={num_nodes},roots=({_listed(roots)}))", num_nodes,
        len(roots) * num_nodes, lambda r, c: r == c % num_nodes,
        lambda r, c: r == roots[c // num_nodes],
    )  # fmt: skip


def _combine(num_nodes):
    """Which chunk a chunk is to be combined with: the next rank's, round the circle."""
    return lambda rank, chunk: (chunk + 1) % num_nodes if num_nodes > 1 else None


def _listed(roots):
    return ",".join(map(str, roots))
