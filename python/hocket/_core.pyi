"""The C++ core of hocket. Import `hocket` instead."""

from collections.abc import Callable, Sequence
from typing import Literal, overload


class Location:
    """A file and a line of the user's source."""

    @property
    def file(self) -> str: ...

    @property
    def line(self) -> int:
        """From 1; 0 where no place is known."""

    def __bool__(self) -> bool: ...

    def __eq__(self, arg: Location, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Note:
    """A second place that explains the first."""

    @property
    def message(self) -> str: ...

    @property
    def location(self) -> Location: ...

    def __repr__(self) -> str: ...

class Diagnostic:
    """
    What went wrong, as a value. ``str()`` gives the form that editors parse.
    """

    @property
    def severity(self) -> str:
        """'note', 'warning' or 'error'."""

    @property
    def code(self) -> str:
        """The stable code, as 'HK0101'."""

    @property
    def message(self) -> str: ...

    @property
    def location(self) -> Location: ...

    @property
    def hint(self) -> str:
        """What to do; may be empty."""

    @property
    def notes(self) -> list[Note]: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

def codes() -> list[tuple[str, str, str]]:
    """Every diagnostic code: (code, name, what it is about)."""

class Link:
    """A directed link."""

    def __init__(self, bandwidth: float, latency_us: float = 0.0) -> None: ...

    @property
    def bandwidth(self) -> float:
        """In the topology's unit; 0: no link."""

    @property
    def latency_us(self) -> float:
        """0: not stated."""

    def __bool__(self) -> bool: ...

    def __repr__(self) -> str: ...

class Switch:
    """A resource that all traffic from any source to any destination shares."""

    def __init__(self, sources: Sequence[int], destinations: Sequence[int], bandwidth: float, name: str) -> None: ...

    @property
    def sources(self) -> list[int]: ...

    @property
    def destinations(self) -> list[int]: ...

    @property
    def bandwidth(self) -> float: ...

    @property
    def name(self) -> str: ...

    def __repr__(self) -> str: ...

class Topology:
    """Who can talk to whom: ranks, directed links, switches."""

    def __init__(self, name: str, ranks: int) -> None:
        """No links yet; add them with set_link()."""

    @staticmethod
    def from_table(name: str, links: Sequence[Sequence[float]], switches: Sequence[Switch] = []) -> Topology:
        """Any set of links: ``links[dst][src]`` is a bandwidth, 0 for none."""

    @property
    def name(self) -> str: ...

    @property
    def num_ranks(self) -> int: ...

    def has_link(self, src: int, dst: int) -> bool: ...

    def link(self, src: int, dst: int) -> Link: ...

    @property
    def switches(self) -> list[Switch]: ...

    def set_link(self, src: int, dst: int, bandwidth: float, latency_us: float = 0.0) -> None: ...

    def add_switch(self, switch: Switch) -> None: ...

    def rename(self, name: str) -> None: ...

    def sources(self, dst: int) -> list[int]:
        """Ranks with a link to `dst`, ascending."""

    def destinations(self, src: int) -> list[int]:
        """Ranks that `src` has a link to, ascending."""

    def bandwidth_constraints(self) -> list[Switch]:
        """One constraint a link ('src->dst'), then the switches."""

    def reversed(self) -> Topology:
        """Every link and switch turned round."""

    def binarized(self) -> Topology:
        """Every link of bandwidth above 0 made 1, no switches."""

    def __repr__(self) -> str: ...

def fully_connected(ranks: int) -> Topology:
    """Every rank to every other."""

def hub_and_spoke(ranks: int) -> Topology:
    """
    Every rank to every other through a hub, one switch in and one out a rank.
    """

def ring(ranks: int) -> Topology:
    """Each rank to both neighbours."""

def line(ranks: int) -> Topology:
    """Each rank to its neighbours, without wrap."""

def star(ranks: int, non_blocking: bool = True) -> Topology:
    """Rank 0 to all others and back."""

def dgx1() -> Topology:
    """NVIDIA DGX-1: 8 GPUs, one or two NVLinks between neighbours."""

def dgx_a100() -> Topology:
    """NVIDIA DGX A100: 8 GPUs on NVSwitch."""

def amd4() -> Topology:
    """4 AMD GPUs in a cycle."""

def amd8() -> Topology:
    """8 AMD GPUs."""

def nvlink_only(nvidia_smi_topo: str) -> Topology:
    """From the text that ``nvidia-smi topo -m`` prints."""

def distributed_fully_connected(local: Topology, copies: int, remote_bandwidth: float) -> Topology:
    """
    Copies of `local`, joined by links between every two ranks of different copies.
    """

def distributed_hub_and_spoke(local: Topology, copies: int, remote_bandwidth: float) -> Topology:
    """The same, each copy's traffic in and out limited by a switch."""

class Buffer:
    """
    A buffer of a rank: ``Buffer.input``, ``Buffer.output``, or a scratch buffer by name. Wherever a buffer is expected a string is one: the scratch of that name.
    """

    def __init__(self, name: str) -> None:
        """The scratch buffer of that name."""

    @property
    def kind(self) -> str:
        """'input', 'output' or 'scratch'."""

    @property
    def name(self) -> str: ...

    @overload
    def __eq__(self, arg: Buffer, /) -> bool: ...

    @overload
    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    input: Buffer = ...

    output: Buffer = ...

    scratch: Buffer = ...

class Collective:
    """
    What must hold before and after. Made by ``allreduce(8, 8)`` and its siblings, or by ``CustomCollective.build()``.
    """

    @staticmethod
    def make(kind: str, ranks: int, chunk_factor: int = 1, in_place: bool = False, root: int = 0) -> Collective: ...

    @property
    def kind(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def num_ranks(self) -> int: ...

    @property
    def chunk_factor(self) -> int: ...

    @property
    def in_place(self) -> bool: ...

    @property
    def root(self) -> int: ...

    @property
    def chunks_per_loop(self) -> int:
        """Chunks of the largest buffer of any rank."""

    @property
    def has_postcondition(self) -> bool: ...

    def chunks(self, rank: int, buffer: Buffer | str) -> int:
        """Chunks of that buffer on that rank."""

    def initial(self, rank: int, buffer: Buffer | str, index: int) -> tuple[int, int] | None:
        """
        The (rank, index) of the chunk that lies there before the run, or None.
        """

    def expected(self, rank: int, buffer: Buffer | str, index: int) -> list[tuple[int, int]] | None:
        """The chunks whose sum must lie there after the run; None: don't care."""

    def to_post_json(self) -> str:
        """
        As a postcondition file, for `hocket verify FILE --post` and from_post_json().
        """

    def refined(self, parts: int) -> Collective:
        """Every chunk cut into equal parts."""

    @overload
    def __eq__(self, arg: Collective, /) -> bool: ...

    @overload
    def __eq__(self, arg: object, /) -> bool: ...

    def __repr__(self) -> str: ...

def allreduce(ranks: int, chunk_factor: int = 1, in_place: bool = False) -> Collective:
    """out[k] = sum over ranks q of in_q[k]."""

def allgather(ranks: int, chunk_factor: int = 1, in_place: bool = False) -> Collective:
    """out[q*c+k] = in_q[k]."""

def reduce_scatter(ranks: int, chunk_factor: int = 1, in_place: bool = False) -> Collective:
    """out[k] on rank r = sum over ranks q of in_q[r*c+k]."""

def alltoall(ranks: int, chunk_factor: int = 1, in_place: bool = False) -> Collective:
    """out[q*c+k] on rank r = in_q[r*c+k]."""

def all_to_next_forward(ranks: int, chunk_factor: int = 1, in_place: bool = False) -> Collective:
    """out[k] on rank r = in_{r-1}[k]; rank 0 gets nothing."""

def all_to_next_backward(ranks: int, chunk_factor: int = 1, in_place: bool = False) -> Collective:
    """out[k] on rank r = in_{r+1}[k]; the last rank gets nothing."""

def broadcast(ranks: int, chunk_factor: int = 1, root: int = 0, in_place: bool = False) -> Collective:
    """out[k] = in_root[k]."""

def reduce(ranks: int, chunk_factor: int = 1, root: int = 0, in_place: bool = False) -> Collective:
    """out[k] on the root = sum of in_q[k]."""

def gather(ranks: int, chunk_factor: int = 1, root: int = 0, in_place: bool = False) -> Collective:
    """out[q*c+k] on the root = in_q[k]."""

def scatter(ranks: int, chunk_factor: int = 1, root: int = 0, in_place: bool = False) -> Collective:
    """out[k] on rank r = in_root[r*c+k]."""

class CustomCollective:
    """
    A collective of one's own: sizes, what lies where, what must lie where.

    Slots without holds() start uninitialised; slots without requires() are "don't care".
    """

    def __init__(self, name: str, ranks: int, chunk_factor: int = 1, in_place: bool = False) -> None: ...

    def buffers(self, rank: int, input_chunks: int, output_chunks: int) -> CustomCollective:
        """Chunk counts of a rank's buffers; before the slots of that rank."""

    def holds(self, rank: int, slot: tuple[Buffer | str, int], origin: tuple[int, int]) -> CustomCollective:
        """
        Slot (buffer, index) of `rank` starts with chunk `origin` = (rank, index).
        """

    def requires(self, rank: int, slot: tuple[Buffer | str, int], origins: Sequence[tuple[int, int]]) -> CustomCollective:
        """
        Slot (buffer, index) of `rank` must end with the sum of the chunks `origins`.
        """

    def without_postcondition(self) -> CustomCollective:
        """Every slot "don't care" and no claim of a postcondition."""

    def build(self) -> Collective: ...

class Step:
    """One instruction of a threadblock."""

    @property
    def op(self) -> str:
        """'s', 'r', 'rcs', 'rrs', 'rrc', 'rrcs', 'cpy', 're' or 'nop'."""

    @property
    def src_buffer(self) -> Buffer: ...

    @property
    def src_offset(self) -> int: ...

    @property
    def dst_buffer(self) -> Buffer: ...

    @property
    def dst_offset(self) -> int: ...

    @property
    def count(self) -> int: ...

    @property
    def depend_tb(self) -> int:
        """The threadblock of this rank that it waits for; -1: none."""

    @property
    def depend_step(self) -> int: ...

    @property
    def has_dependent(self) -> bool: ...

    @property
    def location(self) -> Location:
        """The user's line that it comes from."""

    def __repr__(self) -> str: ...

class ThreadBlock:
    """Steps that run in order, with at most one peer each way."""

    @property
    def id(self) -> int: ...

    @property
    def send(self) -> int:
        """The rank it sends to; -1: none."""

    @property
    def recv(self) -> int: ...

    @property
    def channel(self) -> int: ...

    @property
    def steps(self) -> list[Step]: ...

    def __len__(self) -> int: ...

    def __repr__(self) -> str: ...

class Rank:
    """What one rank runs."""

    @property
    def rank(self) -> int: ...

    @property
    def input_chunks(self) -> int: ...

    @property
    def output_chunks(self) -> int: ...

    @property
    def scratch_chunks(self) -> int: ...

    @property
    def threadblocks(self) -> list[ThreadBlock]: ...

    def __repr__(self) -> str: ...

class AlgorithmStats:
    """Shape of an algorithm."""

    @property
    def ranks(self) -> int: ...

    @property
    def threadblocks(self) -> int: ...

    @property
    def max_threadblocks_of_rank(self) -> int: ...

    @property
    def channels(self) -> int: ...

    @property
    def steps(self) -> int:
        """Nops included, as the XML lists them."""

    @property
    def max_steps_of_threadblock(self) -> int: ...

    @property
    def steps_by_op(self) -> dict[str, int]: ...

    @property
    def nops(self) -> int: ...

    @property
    def dependences(self) -> int: ...

    @property
    def max_scratch_chunks(self) -> int: ...

    @property
    def critical_path(self) -> int:
        """
        Longest chain of steps, by order, dependence and message; -1: deadlocked.
        """

    def __repr__(self) -> str: ...

class Algorithm:
    """
    A compiled algorithm: what each rank's threadblocks run. Made by compile() and the readers; never changes.
    """

    @property
    def name(self) -> str: ...

    @property
    def collective(self) -> Collective:
        """What it computes; its chunk counts include the instances."""

    @property
    def protocol(self) -> str: ...

    @property
    def in_place(self) -> bool: ...

    @property
    def out_of_place(self) -> bool: ...

    @property
    def num_channels(self) -> int: ...

    @property
    def chunks_per_loop(self) -> int: ...

    @property
    def min_bytes(self) -> int: ...

    @property
    def max_bytes(self) -> int | None: ...

    @property
    def num_ranks(self) -> int: ...

    @property
    def ranks(self) -> list[Rank]: ...

    def stats(self) -> AlgorithmStats:
        """Counts of threadblocks, channels, steps, ... Linear in steps."""

    def to_xml(self, target: Literal['msccl', 'msccl-executor', 'rccl', 'hocket'] = 'msccl') -> str:
        """
        The XML that `target` loads; a warning (HK04xx) where it would not run it.
        """

    def to_text(self) -> str: ...

    @overload
    def __eq__(self, arg: Algorithm, /) -> bool: ...

    @overload
    def __eq__(self, arg: object, /) -> bool: ...

    def __repr__(self) -> str: ...

def to_xml(algorithm: Algorithm, target: Literal['msccl', 'msccl-executor', 'rccl', 'hocket'] = 'msccl') -> str:
    """
    The XML that `target` loads; a warning (HK04xx) where it would not run it.
    """

def to_text(algorithm: Algorithm) -> str:
    """The compact text form, complete: ``from_text(to_text(a)) == a``."""

def from_xml(text: str, file: str = '<xml>') -> Algorithm:
    """Reads XML of any of the dialects. `file` is for messages."""

def from_text(text: str, file: str = '<text>') -> Algorithm: ...

def from_any(text: str, file: str = '<text>') -> Algorithm:
    """XML where the text starts with '<', else the text form."""

class Ref:
    """
    A place: `size` chunks of a buffer of a rank. Made by Program.chunk() and by the operations themselves.
    """

    @property
    def rank(self) -> int: ...

    @property
    def buffer(self) -> Buffer:
        """After in-place aliasing."""

    @property
    def index(self) -> int: ...

    @property
    def size(self) -> int: ...

    def copy(self, dst: int, buffer: Buffer | str | None = None, index: int | None = None, *, ch: int = -1, send_tb: int = -1, recv_tb: int = -1) -> Ref:
        """
        Copies this place to rank `dst` and returns the place written.

        Without a buffer: the same buffer (and, without an index, the same index). With a scratch buffer and no index: appended to that buffer's end on `dst`. `ch` is the channel, `send_tb` and `recv_tb` the threadblocks at both ends; -1: the compiler's choice.
        """

    def reduce(self, other: Ref, *, ch: int = -1, send_tb: int = -1, recv_tb: int = -1) -> Ref:
        """
        self += other, element by element; `other` may be on any rank and must be of equal size. Returns this place.
        """

    def split(self, parts: int) -> list[Ref]:
        """Places of equal size, low to high."""

    def group(self, other: Ref) -> Ref:
        """The hull of two places of one buffer that touch or overlap."""

    def origin(self, i: int = 0) -> tuple[int, int]:
        """(rank, index) where the i-th chunk started."""

    def dst_rank(self, i: int = 0) -> int:
        """Where the collective wants the i-th chunk; -1: nowhere said."""

    def dst_index(self, i: int = 0) -> int: ...

    @overload
    def __eq__(self, arg: Ref, /) -> bool: ...

    @overload
    def __eq__(self, arg: object, /) -> bool: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class WrongChunk:
    """One slot that does not hold what it must."""

    @property
    def rank(self) -> int: ...

    @property
    def buffer(self) -> Buffer: ...

    @property
    def index(self) -> int: ...

    @property
    def expected(self) -> list[tuple[int, int]]:
        """(rank, index) of each chunk of the sum; capped, as the next three are."""

    @property
    def found(self) -> list[tuple[int, int]]: ...

    @property
    def missing(self) -> list[tuple[int, int]]: ...

    @property
    def surplus(self) -> list[tuple[int, int]]: ...

    @property
    def written(self) -> bool: ...

    @property
    def last_write(self) -> Location:
        """The line of the last write to the slot."""

    @property
    def message(self) -> str: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class CheckReport:
    """
    What Program.check() found. True when the program implements its collective; ``str()`` lists what is wrong.
    """

    @property
    def checked(self) -> int:
        """Slots that the postcondition names."""

    @property
    def wrong(self) -> int:
        """All that are wrong, however many are listed."""

    @property
    def list(self) -> list[WrongChunk]: ...

    @property
    def has_postcondition(self) -> bool: ...

    @property
    def ok(self) -> bool: ...

    def require(self) -> None:
        """Raises hocket.Error (HK0203 or HK0204) unless ok."""

    def __bool__(self) -> bool: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Fragment:
    """What Program.parallelize() returns; use it in `with`."""

    def __enter__(self) -> None: ...

    def __exit__(self, *args: object) -> bool: ...

class Program:
    """
    A program: movements of chunks between ranks, traced as they are called.

    Every mistake is a hocket.Error raised at the call that makes it.
    """

    def __init__(self, name: str, topology: Topology, collective: Collective, *, instances: int = 1, protocol: Literal['Simple', 'LL', 'LL128'] = 'Simple', replication: Literal['interleaved', 'batched'] = 'interleaved', placement: Literal['automatic', 'manual'] = 'automatic', fuse: bool = True, dependence_nop: bool = False) -> None:
        """
        The topology and the collective must have equally many ranks.

        `instances`: copies of the whole program, each on its share of every chunk. `protocol`: 'Simple', 'LL' or 'LL128'. `replication`: 'interleaved' or 'batched'. `placement`: 'automatic', or 'manual' where every operation names its threadblocks.
        """

    def chunk(self, rank: int, buffer: Buffer | str, index: int, size: int = 1) -> Ref:
        """
        The place (rank, buffer, index, size); every slot of it must have been written.
        """

    def find_chunk(self, rank: int, buffer: Buffer | str, index: int, size: int = 1) -> Ref | None:
        """The same, or None where the first slot holds nothing."""

    def parallelize(self, n: int) -> Fragment:
        """
        ``with program.parallelize(4):`` runs each operation inside as 4 instances on quarters of its data; the rest of the program does not.
        """

    def check(self, max_listed: int = 20) -> CheckReport:
        """
        Compares what every slot holds now with the collective's postcondition.
        """

    @property
    def name(self) -> str: ...

    @property
    def topology(self) -> Topology: ...

    @property
    def collective(self) -> Collective: ...

    @property
    def num_ranks(self) -> int: ...

    @property
    def warnings(self) -> list[Diagnostic]:
        """Stale references and the like, in the order they were found."""

    def buffer_size(self, rank: int, buffer: Buffer | str) -> int:
        """Chunks; 0 for a scratch buffer not yet written."""

    def content(self, rank: int, buffer: Buffer | str, index: int) -> list[tuple[int, int]] | None:
        """
        What lies in a slot now: the (rank, index) of every contribution, sorted; None: nothing.
        """

    def __repr__(self) -> str: ...

def compile(program: Program, *, target: Literal['msccl', 'msccl-executor', 'rccl', 'hocket'] = 'hocket', min_bytes: int = 0, max_bytes: int | None = None, check_limits: bool = True, verify: bool = False, verify_passes: bool = False, print_after: str = '', observer: Callable[[str, str], object] | None = None) -> Algorithm:
    """
    From a traced program to an algorithm that means the same in every schedule.

    `target`: 'msccl', 'msccl-executor', 'rccl' or 'hocket'; its limits are refused (HK04xx) unless `check_limits` is false. `min_bytes`, `max_bytes`: message sizes that it must be safe for. `verify`: prove the result, about a microsecond a step; `verify_passes`: prove the program right after every pass, and name the one that broke it. Either raises InternalError, since it is a bug of ours. `observer(pass, printout)` is called after each pass, with a printout after the pass that `print_after` names ('all' for each).
    """

def compile_passes() -> list[tuple[str, str]]:
    """(name, summary) of each pass, in the order they run."""

def check_limits(algorithm: Algorithm, target: Literal['msccl', 'msccl-executor', 'rccl',  'hocket'], max_listed: int = 3) -> list[Diagnostic]:
    """Every limit of `target` that the algorithm breaks."""

class StepPlace:
    """
    A step by its position: rank, threadblock id, number in the threadblock (nops counted); -1: no particular one.
    """

    @property
    def rank(self) -> int: ...

    @property
    def tb(self) -> int: ...

    @property
    def step(self) -> int: ...

    @overload
    def __eq__(self, arg: StepPlace, /) -> bool: ...

    @overload
    def __eq__(self, arg: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class Finding:
    """
    One thing that is wrong, or wasted. ``str()`` is the diagnostic as the command line prints it.
    """

    @property
    def diagnostic(self) -> Diagnostic: ...

    @property
    def code(self) -> str:
        """The stable code, as 'HK1005'."""

    @property
    def message(self) -> str: ...

    @property
    def location(self) -> Location:
        """The user's line, where the algorithm knows it."""

    @property
    def at(self) -> StepPlace | None:
        """The step it is about."""

    @property
    def buffer(self) -> Buffer | None:
        """With `index` the chunk it is about, under the name that the step uses."""

    @property
    def index(self) -> int | None: ...

    @property
    def expected(self) -> str:
        """Contents in words; '' where nothing is compared."""

    @property
    def found(self) -> str: ...

    @property
    def chain(self) -> list[StepPlace]:
        """
        Steps that explain it: the way of a wrong value, the circle of a deadlock, the other access of a race.
        """

    @property
    def saves(self) -> int:
        """Of waste: how many steps, dependences or chunks."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class PropertyRuling:
    """What was decided of one property, and why."""

    @property
    def ruling(self) -> Literal['proved', 'refuted', 'undecided']: ...

    @property
    def summary(self) -> str: ...

    @property
    def findings(self) -> list[Finding]:
        """At most `max_findings` of them."""

    @property
    def num_findings(self) -> int:
        """All of them."""

    def __repr__(self) -> str: ...

class SumOrder:
    """How one sum is added up, and where it ends."""

    @property
    def order(self) -> str:
        """As '((in0+in1)+in2) of chunk 3'."""

    @property
    def places(self) -> list[tuple[int, Buffer, int]]:
        """(rank, buffer, index) of every slot that holds it."""

    def __repr__(self) -> str: ...

class PlacementReport:
    """All properties of one way to call it."""

    @property
    def in_place(self) -> bool: ...

    @property
    def ruling(self) -> Literal['proved', 'refuted', 'undecided']: ...

    @property
    def properties(self) -> dict[str, PropertyRuling]:
        """
        By name: 'structure', 'deadlock', 'races', 'initialised', 'postcondition', 'same-bits'.
        """

    @property
    def least_slots(self) -> int | None:
        """
        Slots of every connection with which it ends; 0: a sender may wait for its receiver.
        """

    @property
    def largest_safe_bytes(self) -> int | None:
        """
        Where the range of sizes is not free of deadlock: the largest message that is.
        """

    @property
    def orders(self) -> list[SumOrder]:
        """
        In which order every element of the result is added up; only if asked for.
        """

    def __repr__(self) -> str: ...

class VerifyReport:
    """
    What verify() decided. True when everything is proved; ``str()`` is what `hocket verify` prints.
    """

    @property
    def name(self) -> str: ...

    @property
    def ruling(self) -> Literal['proved', 'refuted', 'undecided']: ...

    @property
    def placements(self) -> list[PlacementReport]:
        """In place, out of place, or both."""

    @property
    def targets(self) -> dict[str, PropertyRuling]:
        """Would it load and run there? Of the target asked about, or of all."""

    @property
    def target_asked(self) -> bool:
        """Whether the target counts in `ruling`."""

    @property
    def waste(self) -> list[Finding]:
        """What could be left out, as findings."""

    @property
    def num_waste(self) -> int: ...

    def require(self) -> None:
        """
        Raises hocket.Error, of the first thing that is wrong or not decided, unless proved.
        """

    def to_json(self) -> str:
        """The report for programs; docs/verification.md describes it."""

    def __bool__(self) -> bool: ...

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class FinalContents:
    """
    What the input and output buffers hold at the end, in every schedule. Handed to the `check` of verify(), and of use only inside it.
    """

    @property
    def collective(self) -> Collective:
        """The algorithm's; its chunk counts and origins include the instances."""

    @property
    def in_place(self) -> bool: ...

    def content(self, rank: int, buffer: Buffer | str, index: int) -> list[tuple[int, int]] | None:
        """
        What a slot ends with: the (rank, index) of every contribution, sorted; None: nothing of worth.
        """

def verify(algorithm: Algorithm, *, target: Literal['msccl', 'msccl-executor', 'rccl', 'hocket'] | None = None, min_bytes: int | None = None, max_bytes: int | None = None, slots: int | None = None, in_place: bool | None = None, collective: Collective | None = None, root: int | None = None, check: Callable[[FinalContents], bool | str | None] | None = None, require_same_bits: bool = False, orders: bool = False, waste: bool = True, max_findings: int = 10) -> VerifyReport:
    """
    Proves an algorithm right in every schedule, or shows why it is not; the algorithm alone counts, not who made it.

    `target`: the runtime that it must load and run on; else each gets a line that does not count. `min_bytes`, `max_bytes`: message sizes that must be safe; else the algorithm's own. `slots` of a connection; else the protocol's. `in_place`: only calls in place, or only others. `collective`: what it must compute; else what it says itself. `root`: of a broadcast, reduce, gather or scatter; else found out. `check(contents)`: your own word on the FinalContents: True, False or a sentence of what is wrong; None says nothing. `require_same_bits`: refute where ranks add in different orders. `orders`: list the order in which every element is added up. `waste`: look for what could be left out.

    docs/verification.md says what is proved, and under which assumptions.
    """

def infer_root(algorithm: Algorithm) -> int | None:
    """
    The root with which a broadcast, reduce, gather or scatter is right: runtimes' files do not say it. None: with none, or it has no root.
    """

def from_post_json(text: str, file: str = '<json>') -> Collective:
    """
    Reads what an algorithm must compute from a postcondition file: for verify(collective=...).
    """

class DataMismatch:
    """The first element that is not what the postcondition says."""

    @property
    def rank(self) -> int: ...

    @property
    def buffer(self) -> Buffer: ...

    @property
    def offset(self) -> int:
        """In elements."""

    @property
    def expected(self) -> str: ...

    @property
    def found(self) -> str: ...

    @property
    def wrong(self) -> int:
        """Elements wrong in all."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

class SelfTestResult:
    """What LocalExecutor.self_test() measured."""

    @property
    def seconds(self) -> float:
        """Median of the timed runs."""

    @property
    def bytes(self) -> int:
        """The larger buffer of a rank."""

    @property
    def algorithm_bandwidth(self) -> float:
        """GB/s."""

    @property
    def bus_bandwidth(self) -> float:
        """GB/s, with nccl-tests' factor of the collective."""

    @property
    def mismatch(self) -> DataMismatch | None: ...

    @property
    def checked(self) -> bool: ...

    def __repr__(self) -> str: ...

class LocalExecutor:
    """Runs an algorithm on real data in this process."""

    def __init__(self, algorithm: Algorithm) -> None: ...

    def run(self, inputs: Sequence[object] | None, outputs: Sequence[object] | None = None, *, dtype: Literal['float32', 'float64', 'int32', 'int64', 'uint8', 'float16', 'bfloat16'] | None = None, op: Literal['sum', 'prod', 'min', 'max'] = 'sum', count: int | None = None, in_place: bool = False, threads: int = 0, slots: int | None = None) -> None:
        """
        One call on a buffer a rank: anything with the buffer protocol.

        `dtype` and `count` (elements of the smaller buffer) are taken from the buffers where they are not given. In place, one of the two lists may be None: the buffer that lies inside the other, or either of two equal ones.
        """

    def self_test(self, *, count: int, dtype: Literal['float32', 'float64', 'int32', 'int64', 'uint8', 'float16', 'bfloat16'] = 'float32', op: Literal['sum', 'prod', 'min', 'max'] = 'sum', in_place: bool = False, check: bool = True, repeats: int = 1, threads: int = 0, slots: int | None = None, seed: int = 1) -> SelfTestResult:
        """
        Fills buffers so that misplaced, missing and doubled chunks show, runs, compares.
        """

class ParameterInfo:
    """A parameter of a library algorithm."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def default_value(self) -> str: ...

    def __repr__(self) -> str: ...

class AlgorithmInfo:
    """An algorithm of the library."""

    @property
    def name(self) -> str: ...

    @property
    def collective(self) -> str: ...

    @property
    def about(self) -> str: ...

    @property
    def ranks_rule(self) -> str: ...

    @property
    def parameters(self) -> list[ParameterInfo]: ...

    def __repr__(self) -> str: ...

def algorithm_library() -> list[AlgorithmInfo]:
    """Every standard algorithm, sorted by name."""

def make_algorithm(name: str, **parameters: int | str | bool) -> Program:
    """
    The program of a library algorithm: ``make_algorithm('allreduce_ring', ranks=8)``.
    """

class DropInRef:
    """A place: `size` chunks of a buffer of a rank."""

    def __init__(self, rank: int, buffer: object, index: int, size: int, prog: object) -> None: ...

    @property
    def rank(self) -> int: ...

    @property
    def buffer(self) -> object: ...

    @property
    def index(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def prog(self) -> object: ...

    def copy(self, dst: int, buffer: object | None = None, index: int = -1, sendtb: int = -1, recvtb: int = -1, ch: int = -1) -> DropInRef:
        """
        Copies this place to rank `dst` and returns the place written. Without a buffer: the same buffer and index. With a scratch buffer and no index: appended to its end.
        """

    @overload
    def reduce(self, other_chunkref: DropInRef, sendtb: int = -1, recvtb: int = -1, ch: int = -1) -> DropInRef:
        """self += other, element by element; returns self."""

    @overload
    def reduce(self, dst: int, buffer: object | None = None, index: int = -1, sendtb: int = -1, recvtb: int = -1, ch: int = -1) -> DropInRef:
        """An older release's call shape."""

    def send(self, dst: int, buffer: object | None = None, index: int = -1, sendtb: int = -1, recvtb: int = -1, ch: int = -1, step: object | None = None) -> DropInRef:
        """An older release's name of copy()."""

    def split(self, num: int) -> list:
        """Places of equal size, low to high."""

    def group(self, other: DropInRef) -> DropInRef:
        """The hull of two places of one buffer that touch or overlap."""

    def get_origin_rank(self, index: int = 0) -> object: ...

    def get_origin_index(self, index: int = 0) -> object: ...

    def get_dst_rank(self, index: int = 0) -> object: ...

    def get_dst_index(self, index: int = 0) -> object: ...

    def print_chunk_info(self, index: int = 0) -> None: ...

    @overload
    def __eq__(self, arg: DropInRef, /) -> bool: ...

    @overload
    def __eq__(self, arg: object, /) -> bool: ...

    def __repr__(self) -> str: ...

    __hash__: None = None

class DropInProgram:
    """What msccl.language.MSCCLProgram is made of."""

    def __init__(self, *, name: str, topology: Topology, collective: Collective, protocol: str, instances: int, manual: bool, batched: bool, fuse: bool, dependence_nop: bool, place_map: str, get_buffer_index: object | None, chunk_factor: int, destination: str, output_is_input: Sequence[bool], chunks: Sequence[tuple[tuple[int, int], object]]) -> None: ...
