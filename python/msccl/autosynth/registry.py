"""Which algorithm a machine uses for a collective of a size.

`init()` chooses among registered plans, writes their XML and a file that lists it by size, and sets the
environment that the MSCCL runtime reads when the process next creates a communicator.
"""

import os
import tempfile
from dataclasses import dataclass
from enum import Enum
from typing import Callable
from xml.sax.saxutils import quoteattr

from hocket._running import parse_bytes
from msccl.language import MSCCLProgram, ThreadblockPolicy
from msccl.language.collectives import AllGather, AllReduce, AllToAll, ReduceScatter
from msccl.topologies import distributed_fully_connected


class Collective(Enum):
    allreduce = "allreduce"
    allgather = "allgather"
    reduce = "reduce"
    broadcast = "broadcast"
    alltoall = "alltoall"
    reduce_scatter = "reduce_scatter"

    def __str__(self):
        return self.value


@dataclass(frozen=True)
class _Plan:
    collective: str
    machine_type: str
    machines: Callable[[int], bool]
    low: int
    high: int | None  # None: no limit
    protocol: str
    priority: int
    name: str
    # The path of an XML file for that many machines.
    make: Callable[[int], str]

    def covers(self, low):
        return self.low <= low and (self.high is None or low < self.high)


_plans: dict[tuple[str, str], list[_Plan]] = {}


def _name(collective):
    return collective.value if isinstance(collective, Collective) else str(collective)


def _interval(sizes):
    """(low, high) of None, one size (it and all above), or a pair whose upper end may be None."""
    if sizes is None:
        return 0, None
    low, high = sizes if isinstance(sizes, (tuple, list)) else (sizes, None)
    low = 0 if low is None else parse_bytes(low)
    high = None if high is None else parse_bytes(high)
    if high is not None and high <= low:
        raise ValueError(f"sizes from {low} to {high} bytes, which is no interval")
    return low, high


def _register(collective, machine_type, machines, sizes, protocol, priority, name, make):
    low, high = _interval(sizes)
    plan = _Plan(
        _name(collective), machine_type, machines, low, high, protocol, priority, name, make
    )
    _plans.setdefault((plan.collective, machine_type), []).append(plan)


def _write(text, suffix):
    handle, path = tempfile.mkstemp(suffix=suffix, prefix="msccl-")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    return path


def register_synthesis_plan(
    collective, machine_type, machines=lambda x: True, sizes=None, protocol="Simple", priority=0
):
    """Registers a function from the number of machines to XML text."""

    def decorate(function):
        _register(
            collective, machine_type, machines, sizes, protocol, priority,
            f"call {function.__name__}", lambda count: _write(function(count), ".xml"),
        )  # fmt: skip
        return function

    return decorate


def register_ef_file(
    path, collective, machine_type, num_machines, sizes=None, protocol="Simple", priority=0
):
    """Registers an XML file for exactly that many machines."""
    _register(
        collective, machine_type, lambda count: count == num_machines, sizes, protocol, priority,
        f"load {path}", lambda count: path,
    )  # fmt: skip


def register_msccl_program(
    local_topology,
    collective,
    machine_type,
    machines=lambda x: True,
    sizes=None,
    protocol="Simple",
    chunk_factor=1,
    priority=0,
    collective_obj=None,
    instances=1,
    inplace=False,
    threadblock_policy=ThreadblockPolicy.auto,
    interleaved_replication=True,
    dependence_nop=False,
):
    """Registers a function (program, nodes) that is run inside an open program on that many copies of
    `local_topology`. A program that fails its collective's check is refused."""

    def decorate(function):
        def make(nodes):
            topology = distributed_fully_connected(local_topology, nodes, 1)
            made = collective_obj
            if made is None:
                classes = {
                    "allreduce": AllReduce,
                    "allgather": AllGather,
                    "alltoall": AllToAll,
                    "reduce_scatter": ReduceScatter,
                }
                cls = classes.get(_name(collective))
                if cls is None:
                    raise ValueError(f"collective {_name(collective)!r} needs a collective_obj")
                made = cls(topology.num_nodes(), chunk_factor, inplace)
            program = MSCCLProgram(
                f"{function.__name__}_{nodes}", topology, made, instances, protocol,
                threadblock_policy=threadblock_policy,
                interleaved_replication=interleaved_replication, dependence_nop=dependence_nop,
            )  # fmt: skip
            with program:
                function(program, nodes)
            if program.check() is False:
                raise ValueError(f"plan {function.__name__} does not compute {_name(collective)}")
            return _write(program.generate_xml(), ".xml")

        _register(
            collective, machine_type, machines, sizes, protocol, priority,
            f"run {function.__name__}", make,
        )  # fmt: skip
        return function

    return decorate


def _size_text(size):
    if size is None:
        return "infinity"
    for factor, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "KB")):
        if size >= factor:
            return f"{size / factor:.2f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{size} bytes"


def _choose(collective, machine_type, machines, low, high):
    """[(low, high, plan or None)], the plan of the highest priority over each part of the interval."""
    _built_in()
    plans = [p for p in _plans.get((collective, machine_type), []) if p.machines(machines)]
    cuts = {low}
    for plan in plans:
        for cut in (plan.low, plan.high):
            if cut is not None and low < cut and (high is None or cut < high):
                cuts.add(cut)
    chosen = []
    ends = [*sorted(cuts), high]
    for begin, end in zip(ends, ends[1:]):
        best = max((p for p in plans if p.covers(begin)), key=lambda p: p.priority, default=None)
        if chosen and chosen[-1][2] is best:
            chosen[-1] = (chosen[-1][0], end, best)
        else:
            chosen.append((begin, end, best))
    return chosen


def _detect():
    """The machine type, from what nvidia-smi lists."""
    import shutil
    import subprocess

    if shutil.which("nvidia-smi"):
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
        if listed.count("A100") == 8:
            return "ndv4"
        if listed.count("V100") == 8:
            return "ndv2"
    raise RuntimeError("machine type 'auto', but no known machine was found; name it: 'ndv4', 'ndv2'")


def init(machine_type, num_machines, *collectives):
    """Chooses a plan for each (collective, size or (low, high)) and sets the environment for it.

    A collective is a name or an msccl.Collective. Sizes are bytes or text such as '1MB' (10**6 bytes);
    the upper one may be None."""
    if machine_type == "auto":
        machine_type = _detect()
    if num_machines < 1:
        raise ValueError(f"{num_machines} machines, but there must be at least 1")
    loads = []
    for collective, sizes in collectives:
        name = _name(collective)
        low, high = _interval(sizes)
        for begin, end, plan in _choose(name, machine_type, num_machines, low, high):
            between = f"{name} with sizes from {_size_text(begin)} to {_size_text(end)}"
            if plan is None:
                print(f"MSCCL: No plan found for {between}. Falling back to NCCL baseline.")
                continue
            print(f"MSCCL: Plan for {between} is {plan.name} with {plan.protocol} protocol.")
            attributes = {"path": plan.make(num_machines), "minBytes": begin}
            if end is not None:
                attributes["maxBytes"] = end
            attributes["proto"] = plan.protocol
            loads.append(attributes)
    if not loads:
        print("MSCCL: No algorithms were selected.")
        return
    lines = ["<msccl_algos>"]
    for attributes in loads:
        said = " ".join(f"{key}={quoteattr(str(value))}" for key, value in attributes.items())
        lines.append(f"  <load {said}/>")
    lines.append("</msccl_algos>\n")
    os.environ["MSCCL_CONFIG"] = _write("\n".join(lines), ".xml")
    os.environ["NCCL_ALGO"] = "MSCCL,RING,TREE"


def tabulate_plans():
    """The registered plans as a GitHub table."""
    _built_in()
    rows = [("Machine", "Collective", "# machines", "From", "To", "Protocol", "Priority", "Plan name")]
    for plan in sorted(
        (p for plans in _plans.values() for p in plans),
        key=lambda p: (p.machine_type, p.collective, p.low, p.name),
    ):
        counts = [n for n in range(1, 65) if plan.machines(n)]
        if len(counts) == 64:
            machines = "any"
        elif counts and counts == list(range(counts[0], 65)):
            machines = f">={counts[0]}"
        else:
            machines = ",".join(map(str, counts))
        rows.append(
            (
                plan.machine_type,
                plan.collective,
                machines,
                _size_text(plan.low),
                _size_text(plan.high),
                plan.protocol,
                str(plan.priority),
                plan.name,
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(lines)


def print_plans():
    print(tabulate_plans())


def ndv2_perm():
    """The order of the GPUs of an Azure NDv2 machine, which only measuring there tells."""
    raise RuntimeError("ndv2_perm() measures the PCIe links of an NDv2 machine; this is none")


_built_in_done = False


def _built_in():
    """Registers the plans that come with the package, once, when a plan is first asked for."""
    global _built_in_done
    if _built_in_done:
        return
    _built_in_done = True
    from msccl.autosynth import ndv4

    ndv4.register()
