"""The drop-in package: what of the original language is kept, and what is refused."""

import inspect
import warnings
import xml.etree.ElementTree as ET_std

import pytest

import hocket
from msccl.language import *
from msccl.language.collectives import AllGather, AllReduce, AllToAll, Collective, ReduceScatter
from msccl.topologies import fully_connected, line, ring
from support import compiled_right, judged, run_python


class Free(Collective):
    def init_buffers(self):
        return [
            {
                Buffer.input: [Chunk(r, i, r, i) for i in range(self.chunk_factor)],
                Buffer.output: [None] * self.chunk_factor,
            }
            for r in range(self.num_ranks)
        ]


def program(collective=None, topo=None, **options):
    collective = collective or Free(4, 4, False)
    topo = topo or fully_connected(collective.num_ranks)
    return MSCCLProgram("program", topo, collective, options.pop("instances", 1), **options)


# --- names


def test_every_name_a_program_may_import():
    import msccl.language
    import msccl.language.buffer
    import msccl.language.chunk
    import msccl.language.collectives
    import msccl.language.ir
    import msccl.language.passes
    import msccl.language.rank_dag
    import msccl.language.routines
    import msccl.language.tb_assignment

    language = """MSCCLProgram chunk XML Check Print create_scratch Ref ChunkRef Buffer BufferSlice
        Chunk ReduceChunk Instruction ChunkInstruction ThreadblockPolicy Op Gpu Threadblock Program
        InstructionDAG ir_to_xml auto_assign_tbs manual_assign_tbs topo_sort_instrs channel_assignment
        check_dependency_cycles check_threadblock_ordering remove_op same_tb same_count same_buf_dst
        dataclass field Enum defaultdict functools heapq sys ET collections""".split()
    space = {}
    exec("from msccl.language import *", space)
    assert [name for name in language if name not in space] == []
    space = {}
    exec("from msccl.language.collectives import *", space)
    for name in [*language, "Collective", "AllReduce", "AllGather", "AllToAll", "ReduceScatter"]:
        assert name in space, name
    space = {}
    exec("from msccl.language.routines import *", space)
    for name in ["allgather_ring_inplace", "allreduce_ring_inplace", "MSCCLProgram", "ring", "AllGather"]:
        assert name in space, name
    space = {}
    exec("from msccl.language.ir import *", space)
    for name in ["Buffer", "Instruction", "ThreadblockPolicy", "ChunkRef", "Op"]:
        assert name in space, name
    space = {}
    exec("from msccl.topologies import *", space)
    topologies = """Topology fully_connected hub_and_spoke ring line star dgx1 dgx_a100 nvlink_only amd4
        amd8 distributed_fully_connected distributed_hub_and_spoke reverse_topology binarize_topology
        generic nvidia amd distributed transformers topology""".split()
    assert [name for name in topologies if name not in space] == []


def test_the_synthesis_collectives_hide_nothing_of_the_language():
    space = {}
    exec("from msccl.language import *\nfrom msccl.collectives import *", space)
    for name in ("chunk", "Buffer", "XML", "Check", "MSCCLProgram"):
        assert space[name] is globals()[name]


def test_leaked_decorators_work():
    @dataclass
    class Point:
        x: int = 0
        tags: list = field(default_factory=list)

    @dataclass(frozen=True)
    class Frozen:
        x: int

    assert Point(3) == Point(3, []) and Frozen(1).x == 1
    assert ET.fromstring("<a/>").tag == "a"


# --- programs


def test_arguments_by_position_and_attributes():
    collective = AllReduce(4, 4, True)
    topo = fully_connected(4)
    p = MSCCLProgram("name", topo, collective, 2, "LL", ThreadblockPolicy.manual, False, False, False, True)
    assert (p.name, p.topo, p.collective, p.instances, p.protocol) == ("name", topo, collective, 2, "LL")
    assert p.threadblock_policy is ThreadblockPolicy.manual
    assert (p.interleaved_replication, p.instr_fusion, p.check_xml, p.dependence_nop) == (
        False, False, False, True,
    )  # fmt: skip
    assert p.num_ranks == 4 and p.run_opt is True


def test_bad_programs():
    with pytest.raises(AssertionError, match="Given protocol: Fast. Must be either Simple, LL, LL128"):
        program(protocol="Fast")
    with pytest.raises(IndexError, match="HK0202"):
        program(Free(3, 1, False), fully_connected(4))
    with pytest.raises(hocket.Error, match="HK0202"):
        program(Free(5, 1, False), fully_connected(4))
    for instances in (0, -1):
        with pytest.raises(ValueError, match="HK0116"):
            program(instances=instances)

    class Nothing(Collective):
        def init_buffers(self):
            pass

    with pytest.raises(TypeError, match=r"init_buffers\(\) returned None.*\n?.*HK0201"):
        program(Nothing(2, 1, False))


def test_one_program_at_a_time_in_a_thread():
    with program() as p:
        assert isinstance(p, MSCCLProgram)
        with pytest.raises(RuntimeError, match="There is already a MSCCL Program in context"):
            with program():
                pass
        chunk(0, Buffer.input, 0)
    with pytest.raises(RuntimeError, match="No Program in context"):
        chunk(0, Buffer.input, 0)
    for call in (XML, Check, Print):
        with pytest.raises(RuntimeError, match="No Program in context"):
            call()
    with pytest.raises(ZeroDivisionError):
        with program():
            1 / 0
    with program():  # leaving has cleared the context
        pass


def test_threads_have_programs_of_their_own():
    import threading

    found = []

    def trace(n):
        p = program(AllGather(n, 1, False))
        with p:
            for r in range(n):
                for q in range(n):
                    chunk(r, Buffer.input, 0).copy(q, Buffer.output, r)
            found.append(Check())

    threads = [threading.Thread(target=trace, args=(n,)) for n in (2, 3, 4, 5)]
    with program():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [True] * 4


def test_compiling_again_and_going_on():
    p = program()
    with p:
        chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0)
        first = p.generate_xml()
        assert p.generate_xml() == first
        chunk(1, Buffer.output, 0).copy(2, Buffer.output, 0)
    assert p.generate_xml() != first
    assert p.lower().gpus[1].threadblocks


@pytest.mark.parametrize("policy", list(ThreadblockPolicy))
def test_xml_is_printed_alone(policy, capsys):
    p = MSCCLProgram(
        "a<b>&c", fully_connected(2), AllGather(2, 1, False), 2, threadblock_policy=policy
    )
    with p:
        for r in (0, 1):
            for q in (0, 1):
                chunk(r, Buffer.input, 0).copy(q, Buffer.output, r, sendtb=q, recvtb=r)
        XML()
        XML()
    out = capsys.readouterr().out
    assert out.startswith("<algo name=") and out.endswith("</algo>\n")
    one = out[: len(out) // 2]
    assert out == one + one
    root = ET_std.fromstring(one)
    assert root.get("name") == "a<b>&c"
    assert list(root.attrib) == [
        "name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace",
    ]  # fmt: skip
    assert (root.get("coll"), root.get("inplace")) == ("allgather", "0")
    assert list(root[0].attrib) == ["id", "i_chunks", "o_chunks", "s_chunks"]
    assert list(root[0][0].attrib) == ["id", "send", "recv", "chan"]
    assert list(root[0][0][0].attrib) == [
        "s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep",
    ]  # fmt: skip


def test_lowered_data():
    p = program(AllReduce(2, 1, True), protocol="LL128")
    with p:
        c = chunk(0, Buffer.input, 0).reduce(chunk(1, Buffer.input, 0), ch=0)
        c.copy(1, Buffer.input, 0, ch=1)  # not fused: another channel
    lowered = p.lower()
    assert (lowered.name, lowered.collective, lowered.inplace, lowered.protocol) == (
        "program", "allreduce", True, "LL128",
    )  # fmt: skip
    assert [gpu.rank for gpu in lowered.gpus] == [0, 1]
    ops = [op for tb in lowered.gpus[0].threadblocks for op in tb.ops]
    assert [op.inst for op in ops] == [Instruction.recv_reduce_copy, Instruction.send]
    assert ops[0].dst == ChunkRef(0, Buffer.input, 0, 1) and ops[0].cnt() == 1
    assert isinstance(lowered.gpus[0].threadblocks[0], Threadblock)
    assert ir_to_xml(lowered) == p.generate_xml()
    check_dependency_cycles(lowered.gpus[0].threadblocks)
    check_threadblock_ordering(p.instr_dag)


def test_the_instruction_graph():
    p = program(AllReduce(3, 2, False))
    with p:
        a = chunk(1, Buffer.input, 0).reduce(chunk(0, Buffer.input, 0))
        a.copy(2, Buffer.input, 1)
    slots = p.instr_dag.operations
    assert slots[(0, Buffer.input, 1)].inst == Instruction.start
    send = slots[(0, Buffer.input, 0)].next[0]
    assert send.inst == Instruction.send and send.next == []
    reduce = slots[(1, Buffer.input, 0)].next[0]
    assert reduce.inst == Instruction.recv_reduce_copy and send.match == [reduce]
    assert reduce.next[0].inst == Instruction.send
    assert slots[(2, Buffer.input, 1)].next[0].inst == Instruction.recv


# --- chunk() and Ref


def test_refs():
    p = program()
    with p:
        c = chunk(1, Buffer.input, index=1, size=2)
        assert repr(c) == "Ref(Buffer:i, Index:1, Size:2, Rank:1)"
        assert (c.rank, c.buffer, c.index, c.size) == (1, Buffer.input, 1, 2) and c.prog is p
        assert c == chunk(1, Buffer.input, 1, 2) == Ref(1, Buffer.input, 1, 2, p)
        assert c != chunk(1, Buffer.input, 1) and c != "c"
        with pytest.raises(TypeError):
            hash(c)
        low, high = c.split(2)
        assert (low.index, low.size, high.index, high.size) == (1, 1, 2, 1)
        assert high.group(low) == c and c.group(c) == c
        assert (c.get_origin_rank(), c.get_origin_index(1)) == (1, 2)
        assert (c.get_dst_rank(), c.get_dst_index(1)) == (1, 2)
        d = c.copy(2, Buffer.output, 2)
        assert d == chunk(2, Buffer.output, 2, 2)
        assert d.copy(3) == chunk(3, Buffer.output, 2, 2)
        assert p.get_ref(2, Buffer.output, 2, 2) == d
        assert p.get_chunks(2, Buffer.output, 1, 4) == [None, Chunk(1, 1), Chunk(1, 2), None]


def test_nothing_is_none_and_using_it_says_which_chunk():
    with program():
        assert chunk(0, Buffer.output, 0) is None
    with pytest.raises(AttributeError) as caught:
        with program():
            line_number = inspect.currentframe().f_lineno + 1
            c = chunk(3, Buffer.output, 2)
            c.copy(0, Buffer.output, 0)
    (note,) = caught.value.__notes__
    assert note == f"chunk() at {__file__}:{line_number} returned None: rank 3 output[2] holds nothing there"


def test_scratch_buffers_are_named_by_anything():
    p = program(protocol="LL")
    with p:
        c = chunk(0, Buffer.input, 0, 2)
        for name in ("s", (1, 2), 7, Buffer.scratch, "scratch", "7", "(1, 2)", frozenset([1])):
            first = c.copy(1, name)
            second = c.copy(1, name)
            assert (first.index, second.index) == (0, 2), name
            assert first.buffer == name
            assert chunk(1, name, 1, 3).size == 3
            assert p.buffers[1][name][3] == Chunk(0, 1)
            assert len(p.buffers[1][name]) == 4 and isinstance(p.buffers[1][name], BufferSlice)
        c.copy(2, "gap", 3)
        assert p.buffers[2]["gap"].chunks == [None, None, None, Chunk(0, 0), Chunk(0, 1)]
        assert list(p.buffers[2]) == [Buffer.input, Buffer.output, "gap"]
        assert "s" not in p.buffers[2] and "s" in p.buffers[1]
        with pytest.raises(KeyError):
            p.buffers[2]["s"]
    compiled_right(p)


def test_a_copy_onto_itself_does_nothing():
    p = program(AllGather(2, 2, True))
    with p:
        c = chunk(1, Buffer.input, 0, 2)
        assert repr(c) == "Ref(Buffer:o, Index:2, Size:2, Rank:1)"
        assert c.copy(1, Buffer.output, 2) == c
        assert c.copy(1) == c
        c.copy(0)
    assert p.lower().gpus[0].threadblocks[0].ops[0].inst == Instruction.recv
    assert len(p.instr_dag.operations[(1, Buffer.output, 2)].next) == 1


def test_the_source_rank_names_the_destination():
    # c.copy(r2, Buffer.input, 0) lands in r2's output at the sender's place.
    n = 4
    p = program(AllGather(n, 1, True))
    with p:
        for r1 in range(n):
            for r2 in range(n):
                chunk(r1, Buffer.input, 0).copy(r2, Buffer.input, 0)
        assert Check()
    judged(p.to_algorithm())


def test_an_in_place_reduce_scatter_counts_a_copys_output_from_the_source():
    p = program(ReduceScatter(3, 2, True))
    with p:
        with pytest.warns(hocket.errors.HocketWarning, match="HK0127") as caught:
            line_number = inspect.currentframe().f_lineno + 1
            c = chunk(1, Buffer.input, 0).copy(2, Buffer.output, 1)
        assert (c.rank, c.buffer, c.index) == (2, Buffer.input, 3)
        assert (caught[0].filename, caught[0].lineno) == (__file__, line_number)
        message = str(caught[0].message)
        assert "output[1] of rank 2 lands in its input[3]" in message and "source, rank 1" in message
        assert "own part Buffer.input, index 5" in message
    with warnings.catch_warnings(), p:
        warnings.simplefilter("error")
        assert chunk(1, Buffer.input, 0).copy(1, Buffer.output, 1).index == 3
        assert chunk(1, Buffer.input, 0).copy(2, Buffer.input, 1).index == 1


def test_in_place_a_name_reaches_no_further_than_the_ranks_part():
    with program(AllGather(3, 2, True)):
        chunk(1, Buffer.input, 0, 2).copy(0, Buffer.output, 2)
        for index, size in ((2, 1), (-1, 1), (1, 2), (2**31 - 1, 2)):
            with pytest.raises(IndexError, match="HK0102"):
                chunk(0, Buffer.input, index, size)
        with pytest.raises(IndexError, match="HK0102"):
            chunk(0, Buffer.input, 0).copy(1, Buffer.input, 2)
    with program(ReduceScatter(3, 2, True)):
        for index in (2, -2):
            with pytest.raises(IndexError, match="HK0102"):
                chunk(1, Buffer.output, index)


def bad(code, builtin, call, **options):
    return pytest.param(code, builtin, call, options, id=f"{code}-{call.__name__}")


def rank_too_large():
    chunk(4, Buffer.input, 0)


def rank_negative():
    chunk(-1, Buffer.input, 0)


def index_too_large():
    chunk(0, Buffer.input, 4)


def index_negative():
    chunk(0, Buffer.input, -1)


def index_of_more_than_32_bits():
    chunk(0, Buffer.input, 1 << 40)


def size_past_the_end():
    chunk(0, Buffer.input, 2, 3)


def size_zero():
    chunk(0, Buffer.input, 0, 0)


def size_over_nothing():
    chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0)
    chunk(1, Buffer.output, 0, 2)


def scratch_never_written():
    chunk(0, "s", 0)


def scratch_past_its_end():
    chunk(0, Buffer.input, 0).copy(1, "s", 0)
    chunk(1, "s", 1)


def scratch_named_none():
    chunk(0, None, 0)


def scratch_named_by_a_list():
    chunk(0, Buffer.input, 0).copy(1, [1], 0)


def copy_to_an_index_of_no_buffer():
    chunk(0, Buffer.input, 0).copy(1, index=2)


def copy_to_output_without_index():
    chunk(0, Buffer.input, 0).copy(1, Buffer.output)


def copy_past_the_end():
    chunk(0, Buffer.input, 0, 2).copy(1, Buffer.output, 3)


def copy_to_a_negative_index():
    chunk(0, Buffer.input, 0).copy(1, Buffer.output, -2)


def copy_to_no_rank():
    chunk(0, Buffer.input, 0).copy(4, Buffer.output, 0)


def copy_over_no_link():
    chunk(0, Buffer.input, 0).copy(3, Buffer.output, 0)


def reduce_over_no_link():
    chunk(0, Buffer.input, 0).reduce(chunk(3, Buffer.input, 0))


def copy_over_itself():
    chunk(0, Buffer.input, 0, 2).copy(0, Buffer.input, 1)


def reduce_with_itself():
    chunk(0, Buffer.input, 0).reduce(chunk(0, Buffer.input, 0))


def reduce_of_other_size():
    chunk(0, Buffer.input, 0).reduce(chunk(1, Buffer.input, 0, 2))


def group_of_two_ranks():
    chunk(0, Buffer.input, 0).group(chunk(1, Buffer.input, 1))


def group_of_two_buffers():
    c = chunk(0, Buffer.input, 0)
    c.group(c.copy(0, Buffer.output, 1))


def group_over_a_gap():
    chunk(0, Buffer.input, 0).group(chunk(0, Buffer.input, 2))


def split_unevenly():
    chunk(0, Buffer.input, 0, 3).split(2)


def split_into_nothing():
    chunk(0, Buffer.input, 0, 3).split(0)


def channel_negative():
    chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0, ch=-5)


def threadblock_negative():
    chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0, sendtb=-7)


def destination_of_a_sum():
    chunk(0, Buffer.input, 0).reduce(chunk(1, Buffer.input, 0)).get_dst_index()


def chunk_of_another_program():
    other = program()
    with pytest.raises(RuntimeError):
        other.__enter__()
    chunk(0, Buffer.input, 0).reduce(other.get_ref(1, Buffer.input, 0, 1))


MISTAKES = [
    bad("HK0101", IndexError, rank_too_large),
    bad("HK0101", IndexError, rank_negative),
    bad("HK0102", IndexError, index_too_large),
    bad("HK0102", IndexError, index_negative),
    bad("HK0102", IndexError, index_of_more_than_32_bits),
    bad("HK0102", IndexError, size_past_the_end),
    bad("HK0104", ValueError, size_zero),
    bad("HK0103", AssertionError, size_over_nothing),
    bad("HK0103", KeyError, scratch_never_written),
    bad("HK0103", AssertionError, scratch_past_its_end),
    bad("HK0126", TypeError, scratch_named_none),
    bad("HK0126", TypeError, scratch_named_by_a_list),
    bad("HK0126", TypeError, copy_to_an_index_of_no_buffer),
    bad("HK0121", IndexError, copy_to_output_without_index),
    bad("HK0102", IndexError, copy_past_the_end),
    bad("HK0102", IndexError, copy_to_a_negative_index),
    bad("HK0101", IndexError, copy_to_no_rank),
    bad("HK0108", AssertionError, copy_over_no_link, topo=line(4)),
    bad("HK0108", AssertionError, reduce_over_no_link, topo=line(4)),
    bad("HK0111", ValueError, copy_over_itself),
    bad("HK0112", ValueError, reduce_with_itself),
    bad("HK0110", AssertionError, reduce_of_other_size),
    bad("HK0105", AssertionError, group_of_two_ranks),
    bad("HK0105", AssertionError, group_of_two_buffers),
    bad("HK0106", AssertionError, group_over_a_gap),
    bad("HK0107", AssertionError, split_unevenly),
    bad("HK0107", AssertionError, split_into_nothing),
    bad("HK0113", ValueError, channel_negative),
    bad("HK0114", ValueError, threadblock_negative),
    bad("HK0103", AttributeError, destination_of_a_sum),
    bad("HK0118", ValueError, chunk_of_another_program),
]


@pytest.mark.parametrize("code,builtin,call,options", MISTAKES)
def test_mistakes_are_refused_at_the_users_line(code, builtin, call, options):
    with pytest.raises(builtin) as caught:
        with program(**options):
            call()
    error = caught.value
    assert isinstance(error, hocket.Error)
    assert error.code == code and error.message
    source, first = inspect.getsourcelines(call)
    assert error.location.file == __file__
    assert error.location.line == first + len(source) - 1


def test_threadblock_clashes_are_refused_when_compiled():
    manual = ThreadblockPolicy.manual
    p = program(threadblock_policy=manual)
    with p:
        chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0, sendtb=0, recvtb=0)
        chunk(0, Buffer.input, 0).copy(2, Buffer.output, 0, sendtb=0, recvtb=0)
    with pytest.raises(hocket.Error, match="HK0301") as caught:
        p.generate_xml()
    assert caught.value.location.file == __file__
    p = program(threadblock_policy=manual)
    with p:
        chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0, sendtb=0, recvtb=0, ch=0)
        chunk(0, Buffer.input, 1).copy(1, Buffer.output, 1, sendtb=1, recvtb=1, ch=0)
    with pytest.raises(hocket.Error, match="HK0302"):
        p.generate_xml()


def test_a_limit_of_the_runtimes_is_a_warning():
    p = program()
    with p:
        chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0, ch=40)
    with pytest.warns(hocket.HocketWarning, match="HK04") as caught:
        p.generate_xml()
    assert caught[0].filename == __file__


# --- Check


def test_a_right_check_says_nothing(capsys):
    with program(AllGather(2, 1, False)):
        for r in (0, 1):
            for q in (0, 1):
                chunk(r, Buffer.input, 0).copy(q, Buffer.output, r)
        assert Check() is True
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("own_class", [False, True])
def test_complaints_of_the_built_in_collectives(inplace, own_class, capsys):
    def make(cls):
        # A subclass that overrides init_buffers is checked slot by slot in Python.
        if own_class:
            init = cls.init_buffers
            cls = type("Own", (cls,), {"init_buffers": lambda self: init(self)})
        return cls(2, 1, inplace)

    with program(make(AllReduce)):
        chunk(0, Buffer.input, 0).reduce(chunk(1, Buffer.input, 0))
        assert Check() is False
    out, err = capsys.readouterr()
    assert out == ""
    said = err.splitlines()
    wrong = "Rank {} chunk 0 is incorrect should be ReduceChunk index 0 from all ranks, given {}"
    if inplace:
        assert said == [wrong.format(1, Chunk(1, 0, -1, 0))]
    else:
        assert said == [wrong.format(0, None), wrong.format(1, None)]

    with program(make(AllGather)):
        chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0)
        chunk(0, Buffer.input, 0).copy(1, Buffer.output, 1)
        if not inplace:
            chunk(0, Buffer.input, 0).copy(0, Buffer.output, 0)
        assert Check() is False
    assert capsys.readouterr().err.splitlines() == [
        "Rank 0 chunk 1 is incorrect should be (1, 0) given None",
        "Rank 1 chunk 1 is incorrect should be (1, 0) given (0, 0)",
    ]

    with program(make(AllToAll)):
        for r in (0, 1):
            chunk(r, Buffer.input, 0).copy(r, "kept", 0)
        for r in (0, 1):
            chunk(r, Buffer.input, 1).copy(1 - r, "sent", 0)
        chunk(0, "kept", 0).copy(0, Buffer.output, 0)
        chunk(1, "kept", 0).copy(1, Buffer.output, 1)
        chunk(0, "sent", 0).copy(0, Buffer.output, 1)
        chunk(1, "sent", 0).copy(1, Buffer.output, 0)
        assert Check() is False
    assert capsys.readouterr().err.splitlines() == [
        "Rank 0 chunk 1 is incorrect should be chunk(1,0) given "
        "Chunk(origin_rank=1, origin_index=1, dst_rank=1, dst_index=1)",
        "Rank 1 chunk 1 is incorrect should be chunk(1,1) given "
        "Chunk(origin_rank=1, origin_index=0, dst_rank=0, dst_index=1)",
    ]

    with program(make(ReduceScatter)):
        assert Check() is False
    given = [Chunk(0, 0, 0, 0), Chunk(1, 1, 1, 0)] if inplace else [None, None]
    assert capsys.readouterr().err.splitlines() == [
        f"Rank {r} chunk 0 is incorrect should be index {r} from all ranks given {given[r]}"
        for r in (0, 1)
    ]


def test_a_bare_collective_checks_nothing():
    with program(Free(2, 1, False)):
        assert Check() is None


WRONG = """
    from msccl.language import *
    from msccl.language.collectives import AllReduce
    from msccl.topologies import *
    with MSCCLProgram("wrong", fully_connected(2), AllReduce(2, 1, False), 1):
        chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0)
        XML()
        Check()
"""


def test_a_failed_check_goes_to_stderr_and_exits_0_unless_asked():
    ran = run_python(WRONG)
    ET_std.fromstring(ran.stdout)
    assert ran.stderr.count("is incorrect") == 2 and ran.returncode == 0
    strict = run_python(WRONG, check=False, HOCKET_STRICT_CHECK="1")
    assert strict.returncode == 1 and "HK0203" in strict.stderr
    assert strict.stdout == ran.stdout


# --- what lies where


def test_buffers_are_lists_of_chunk_objects():
    p = program(AllReduce(3, 2, False))
    assert len(p.buffers) == 3
    inputs = p.buffers[2][Buffer.input]
    assert list(inputs) == [Chunk(2, 0), Chunk(2, 1)] == inputs
    assert inputs[-1] == Chunk(2, 1) and inputs[0:1] == [Chunk(2, 0)]
    assert repr(inputs) == repr([Chunk(2, 0, -1, 0), Chunk(2, 1, -1, 1)])
    assert Chunk(2, 1) in inputs and inputs.index(Chunk(2, 1)) == 1
    assert list(p.buffers[-1][Buffer.output]) == [None, None]
    with pytest.raises(IndexError):
        inputs[2]
    with pytest.raises(IndexError):
        p.buffers[3]
    with pytest.raises(TypeError):
        inputs[0] = None
    with p:
        chunk(0, Buffer.input, 1).reduce(chunk(1, Buffer.input, 1)).reduce(chunk(2, Buffer.input, 1))
    total = p.buffers[0][Buffer.input][1]
    assert isinstance(total, ReduceChunk)
    expected = ReduceChunk(-1, [])
    for r in (2, 0, 1):
        expected = expected.reduce(-1, Chunk(r, 1))
    assert total == expected and expected == total
    assert total != expected.reduce(-1, Chunk(0, 1))
    assert total != Chunk(0, 1) and Chunk(0, 1) != total
    assert inputs[1] == Chunk(2, 1)


def test_chunks():
    assert Chunk(1, 2, 3, 4) == Chunk(1, 2) and hash(Chunk(1, 2, 3, 4)) == hash(Chunk(1, 2))
    assert Chunk(0, 9) < Chunk(1, 0) < Chunk(1, 1)
    assert repr(Chunk(1, 2)) == "Chunk(origin_rank=1, origin_index=2, dst_rank=-1, dst_index=-1)"
    two = Chunk(0, 0).reduce(0, Chunk(1, 0))
    assert two == ReduceChunk(5, [Chunk(1, 0), Chunk(0, 0)]) and len(two.chunks) == 2
    assert ReduceChunk(-1, [Chunk(0, 0)]) == Chunk(0, 0)
    assert two != None and Chunk(0, 0) != None  # noqa: E711
    with pytest.raises(TypeError):
        hash(two)


def test_buffer_order_and_names():
    assert [str(b) for b in Buffer] == ["i", "o", "s"]
    assert Buffer.input < Buffer.output < Buffer.scratch
    assert sorted([Buffer.scratch, Buffer.input]) == [Buffer.input, Buffer.scratch]


# --- collectives of the program's own


class Rotate(Collective):
    """In place by its own rule: output i of a rank is its input i+1."""

    def init_buffers(self):
        buffers = []
        for r in range(self.num_ranks):
            own = [Chunk(r, i) for i in range(self.chunk_factor)]
            buffers.append({Buffer.input: own, Buffer.output: [None] * self.chunk_factor})
        return buffers

    def get_buffer_index(self, rank, buffer, index):
        self.asked.append((rank, buffer, index))
        if buffer is Buffer.output:
            return Buffer.input, (index + 1) % self.chunk_factor
        return buffer, index

    def check(self, prog):
        print("checked")
        return prog.buffers[1][Buffer.input][1].origin_rank == 0


def test_a_collectives_own_map_of_places(capsys):
    collective = Rotate(2, 3, True)
    collective.asked = []
    p = program(collective)
    with p:
        c = chunk(0, Buffer.output, 1)
        assert (c.buffer, c.index) == (Buffer.input, 2)
        d = c.copy(1, Buffer.output, 0)
        assert (d.buffer, d.index) == (Buffer.input, 1)
        assert (0, Buffer.output, 0) in collective.asked  # asked with the source's rank
        assert Check() is True
    assert capsys.readouterr() == ("", "checked\n")
    compiled_right(p)
    root = ET_std.fromstring(p.generate_xml())
    assert (root.get("coll"), root.get("inplace")) == ("custom", "1")


def test_input_and_output_that_are_one_list_are_one_memory():
    class InPlace(Collective):
        def init_buffers(self):
            buffers = []
            for r in range(self.num_ranks):
                own = [Chunk(r, i) for i in range(self.chunk_factor)]
                buffers.append({Buffer.input: own, Buffer.output: own})
            return buffers

    p = program(InPlace(2, 2, True))
    with p:
        a = chunk(0, Buffer.input, 0).copy(1, "s", 0)
        chunk(1, Buffer.input, 1).copy(0, Buffer.output, 0)
        assert p.buffers[0][Buffer.input][0] == p.buffers[0][Buffer.output][0] == Chunk(1, 1)
        a.copy(1, Buffer.output, 1)
    compiled_right(p)


def test_ranks_may_differ_in_aliasing_and_in_length():
    class Mixed(Collective):
        def init_buffers(self):
            own = [Chunk(0, i) for i in range(3)]
            return [
                {Buffer.input: own, Buffer.output: own},
                {Buffer.input: [None], Buffer.output: [None, None, None]},
            ]

    p = program(Mixed(2, 3, False))
    with p:
        assert chunk(1, Buffer.input, 0) is None
        c = chunk(0, Buffer.output, 1).copy(1)
        assert (c.buffer, c.index) == (Buffer.output, 1)
        c.copy(0, Buffer.output, 2)
        assert p.buffers[0][Buffer.input][2] == Chunk(0, 1)
    compiled_right(p)


def test_chunk_objects_are_the_programs_own():
    class Tagged(Chunk):
        pass

    same = [Tagged(0, 0, 5, 6), Tagged(0, 0, 7, 8), Tagged(-1, 3), Tagged("a", "b")]
    partial = ReduceChunk(-1, [Chunk(1, 1), Chunk(2, 2)])

    class Own(Collective):
        def init_buffers(self):
            return [
                {Buffer.input: [*same, partial], Buffer.output: [None] * 5},
                {Buffer.input: [Chunk(1, 0)] * 5, Buffer.output: [None] * 5},
            ]

    p = program(Own(2, 5, False))
    with p:
        c = chunk(0, Buffer.input, 0, 5).copy(1, Buffer.output, 0)
        assert [c.get_dst_rank(i) for i in (0, 1)] == [5, 7]
        assert [c.get_dst_index(i) for i in (0, 1)] == [6, 8]
        assert c.get_origin_rank(3) == "a"
        assert all(a is b for a, b in zip(p.buffers[1][Buffer.output], [*same, partial]))
        chunk(1, Buffer.output, 4).reduce(chunk(1, Buffer.input, 2))
        assert p.buffers[1][Buffer.output][4] == ReduceChunk(
            -1, [Chunk(1, 0), Chunk(2, 2), Chunk(1, 1)]
        )
    p.generate_xml()


def test_a_subclass_of_a_built_in_keeps_its_name():
    class Half(AllReduce):
        def init_buffers(self):
            return AllReduce.init_buffers(self)

        def check(self, prog):
            return prog.buffers[0][Buffer.output][0] is not None

    p = program(Half(2, 2, False))
    with p:
        chunk(1, Buffer.input, 0).copy(0, Buffer.output, 0)
        assert Check() is True
    assert ET_std.fromstring(p.generate_xml()).get("coll") == "allreduce"
    compiled_right(p)


def test_what_a_collective_cannot_start_with():
    class Bad(Collective):
        def init_buffers(self):
            return [{Buffer.input: ["x"], Buffer.output: [None]}]

    with pytest.raises(ValueError, match="'x'"):
        program(Bad(1, 1, False))

    class Scratch(Collective):
        def init_buffers(self):
            return [{Buffer.input: [None], Buffer.output: [None], "s": [Chunk(0, 0)]}]

    with pytest.raises(ValueError, match="'s'"):
        program(Scratch(1, 1, False))


@pytest.mark.parametrize(
    "buffers",
    [
        5,
        [[1], [2]],
        [{Buffer.input: None}] * 2,
        [{Buffer.input: 3}] * 2,
        (of_rank for of_rank in ({}, {})),
    ],
    ids=repr,
)
def test_nonsense_from_init_buffers_is_refused(buffers):
    bad = Free(2, 1, False)
    bad.init_buffers = lambda: buffers
    with pytest.raises(hocket.errors.BadCollectiveError, match="HK0201"):
        program(bad)


@pytest.mark.parametrize("answer", [None, "ab", (Buffer.input, "x"), (Buffer.input, 0.5), (0, 1, 2)])
def test_nonsense_from_get_buffer_index_is_refused(answer):
    bad = Free(2, 1, False)
    bad.get_buffer_index = lambda rank, buffer, index: answer
    with pytest.raises(hocket.errors.BadCollectiveError, match="get_buffer_index"):
        program(bad)._ref(0, Buffer.input, 0, 1)


def test_numbers_that_are_none():
    for factor in (1 << 40, 1.5, "2"):
        with pytest.raises(hocket.errors.BadCollectiveError):
            program(AllReduce(2, factor, True))
    for instances in (1 << 31, 1.5, "2", 0):
        with pytest.raises(hocket.errors.BadInstancesError):
            program(AllReduce(2, 1, True), instances=instances)
    p = program(AllReduce(2, 1, True))
    for instances in (-4, "2"):
        p.instances = instances
        with pytest.raises(hocket.errors.BadInstancesError):
            p.generate_xml()
    with pytest.raises(hocket.errors.TooLargeError):
        program(AllReduce((1 << 31) - 1, 1, True))


def test_a_name_that_no_file_can_hold():
    p = program(AllReduce(1, 1, True))
    p.name = "a\nb"
    assert ET_std.fromstring(p.generate_xml()).get("name") == "a\nb"
    p.name = "half \ud800"
    assert ET_std.fromstring(p.generate_xml()).get("name") == "half \\ud800"
    p.name = "\0"
    with pytest.raises(hocket.errors.NameTooLongError):
        p.generate_xml()


def test_a_program_that_was_never_made_leaves_no_context():
    class Never(MSCCLProgram):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match="__init__"):
        Never().__enter__()
    with program():
        assert chunk(0, Buffer.input, 0).size == 1
    with pytest.raises(TypeError, match="prog"):
        Ref(0, Buffer.input, 0, 1, 5)


def test_print_chunk_info_stays_inside_the_ref(capsys):
    with program():
        c = chunk(0, Buffer.input, 1, 2)
        c.print_chunk_info(1)
        assert "origin_index=2" in capsys.readouterr().out
        for i in (-1, 2):
            with pytest.raises(IndexError, match="HK0102"):
                c.print_chunk_info(i)


def test_limits_are_those_of_the_collective_that_the_file_names():
    class Own(AllGather):
        def check(self, prog):
            return None

    p = program(Own(2, 1, True))
    with p:
        for r in range(2):
            chunk(r, Buffer.input, 0).copy(1 - r, Buffer.output, r)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 'coll="allgather"' in p.generate_xml()


# --- older call shapes


def test_older_call_shapes_work_and_warn():
    deprecated = pytest.warns(DeprecationWarning, match="HK0123")
    p = program(AllReduce(3, 1, True))
    with p:
        with deprecated as caught:
            line_number = inspect.currentframe().f_lineno + 1
            c = chunk(0, Buffer.input)
        assert (caught[0].filename, caught[0].lineno) == (__file__, line_number)
        with deprecated:
            c = c.reduce(1, Buffer.input, 0)
        assert c == chunk(1, Buffer.input, 0)
        with deprecated:
            c = c.reduce(2, Buffer.input, 0, ch=1)
        with deprecated:
            c = c.send(1, Buffer.input, 0)
        with deprecated:
            c.send(0)
        assert Check() is True
    with deprecated:
        total = ReduceChunk([])
    with deprecated:
        total = total.reduce(Chunk(0, 0))
    assert total == ReduceChunk(-1, [Chunk(0, 0)])
    judged(p.to_algorithm())


def test_programs_in_a_process_exit_cleanly():
    ran = run_python(
        """
        from msccl.language import *
        from msccl.language.collectives import AllGather
        from msccl.topologies import *
        p = MSCCLProgram("p", fully_connected(2), AllGather(2, 1, False), 1)
        p.collective.program = p
        with p:
            c = chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0)
        raise SystemExit(3)
        """,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, "", "")


def test_the_synthesis_collectives_are_data():
    import msccl.collectives as synthesis

    gather = synthesis.allgather(3)
    assert (gather.num_nodes, gather.num_chunks, gather.runtime_name) == (3, 3, "allgather")
    assert gather.pre_on(1) == [1] and gather.post_on(1) == [0, 1, 2] and not gather.has_triggers()
    halves = gather.chunk_up(2)
    assert halves.pre_on(1) == [2, 3] and [halves.address(c) for c in halves.chunks()] == [0, 1, 2, 3, 4, 5]
    exchange = synthesis.alltoall(2)
    assert [exchange.pre_on(0), exchange.post_on(0)] == [[0, 2], [0, 1]]
    assert synthesis.allreduce(2).has_triggers()
    own = synthesis.build_collective("own", 2, 1, lambda r, c: r == 0, lambda r, c: r == 1)
    assert own.precondition(0, 0) and own.postcondition(1, 0) and own.runtime_name == "custom"
