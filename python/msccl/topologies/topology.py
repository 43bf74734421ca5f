"""Topologies as the original language has them: a name, a table of links, switches.

The builders answer by rule and make their table only when a program looks at it, so that a fully
connected topology of thousands of ranks costs nothing.
"""

from hocket import _core


class Topology:
    """`links[dst][src]` is a bandwidth, 0 for no link; `switches` are (srcs, dsts, bandwidth, name)."""

    def __init__(self, name, links, switches=()):
        self.name = name
        self._links = links
        self._core = None
        self.switches = list(switches)
        for srcs, dsts, bandwidth, switch_name in self.switches:
            if bandwidth == 0:
                raise ValueError(
                    f"Switch {switch_name} has zero bandwidth, but switch bandwidths must be strictly "
                    "positive. Please encode connectedness in links."
                )
            if bandwidth < 0:
                raise ValueError(
                    f"Switch {switch_name} has a negative bandwidth of {bandwidth}. Bandwidth must be "
                    "strictly positive."
                )

    @classmethod
    def _from_core(cls, core):
        self = cls.__new__(cls)
        self.name = core.name
        self._links = None
        self._core = core
        self.switches = [
            (list(s.sources), list(s.destinations), _number(s.bandwidth), s.name)
            for s in core.switches
        ]
        return self

    @property
    def links(self):
        if self._links is None:
            ranks = range(self._core.num_ranks)
            self._links = [
                [_number(self._core.link(src, dst).bandwidth) for src in ranks] for dst in ranks
            ]
        return self._links

    @links.setter
    def links(self, links):
        self._links = links

    def sources(self, dst):
        for src, bandwidth in enumerate(self.links[dst]):
            if bandwidth > 0:
                yield src

    def destinations(self, src):
        for dst, links in enumerate(self.links):
            if links[src] > 0:
                yield dst

    def link(self, src, dst):
        return self.links[dst][src]

    def bandwidth_constraints(self):
        for dst, dst_links in enumerate(self.links):
            for src, bandwidth in enumerate(dst_links):
                if bandwidth > 0:
                    yield [src], [dst], bandwidth, f"{src}\u2192{dst}"
        yield from self.switches

    def nodes(self):
        return range(self.num_nodes())

    def num_nodes(self):
        # A table that was looked at may have been changed since, so it decides.
        return self._core.num_ranks if self._links is None else len(self._links)

    def __repr__(self):
        return f"<Topology {self.name}: {self.num_nodes()} nodes>"


def _number(bandwidth):
    return int(bandwidth) if bandwidth == int(bandwidth) else bandwidth


def to_core(topology):
    """The C++ topology. The language asks num_nodes() and link() only, so any object that has these
    will do."""
    ours = isinstance(topology, Topology)
    plain = ours and type(topology).link is Topology.link and "link" not in vars(topology)
    if plain and topology._links is None:
        return topology._core
    ranks = range(topology.num_nodes())
    table = topology.links if plain else [[topology.link(s, d) for s in ranks] for d in ranks]
    links = [[1.0 if bandwidth else 0.0 for bandwidth in row] for row in table]
    return _core.Topology.from_table(str(getattr(topology, "name", "custom")), links)


def from_any(topology):
    """The C++ topology with its bandwidths and switches, for the builders that combine topologies."""
    if topology._links is None:
        return topology._core
    switches = [_core.Switch(list(s), list(d), float(b), str(n)) for s, d, b, n in topology.switches]
    links = [[float(bandwidth) for bandwidth in row] for row in topology.links]
    return _core.Topology.from_table(topology.name, links, switches)
