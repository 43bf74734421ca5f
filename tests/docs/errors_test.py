#!/usr/bin/env python3
"""docs/errors.md shows, for every code, the very words that the tool prints.

    errors_test.py HOCKET

Each code has its mistake here: a few lines of Python, a command line, or a file of mistakes/ to verify.
It is made, and every example
of the page must be what came of it: the place (where the page shows one), the words, the code.
HOCKET is the command; the Python packages are those of PYTHONPATH.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import warnings

import hocket

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "errors.md"
MISTAKES = pathlib.Path(__file__).resolve().parent / "mistakes"
MESSAGE = re.compile(r"(?:(?P<place>\S+:\d+): )?(?:(?:error|warning): )?(?P<text>.*) \[(?P<code>HK\d{4})\]$")

# What the Python mistakes begin with: `of(8, "allreduce", 1)` is a program on 8 ranks.
PRELUDE = """
import hocket
from hocket import Buffer, Topology, check_limits, from_text, from_xml
input, output = Buffer.input, Buffer.output

def of(ranks, collective, factor, topology=None, name="ring", **options):
    make = getattr(hocket, collective)
    return hocket.Program(name, topology or hocket.fully_connected(ranks), make(ranks, factor), **options)

def limit(text, target):
    raise SystemExit(check_limits(from_text(text), target))

STEP = "s i[0] -> s[0]\\n"

def text(local="", ranks=2, collective="allreduce ranks=2 factor=2", header="channels=1", rest="", sizes=""):
    '''Two ranks that exchange a chunk; threadblock 1 of rank 0 does `local`.'''
    peer = lambda n: f"tb 0 send={n} recv={n}\\n s i[0] -> s[0]\\n r i[0] -> s[0]\\n"
    return (f'algorithm "pair" {header}\\ncollective {collective}\\nrank 0 {sizes}\\n' + peer(1)
            + (f"tb 1\\n{local}\\n" if local else "") + f"rank 1\\n{peer(0)}{rest}")

def xml(*changes):
    lines = hocket.compile(hocket.make_algorithm("allgather_ring", ranks=2)).to_xml()
    for old, new in changes:
        assert old in lines, old
        lines = lines.replace(old, new, 1)
    return from_xml(lines, "ring.xml")
"""

# The last line of each is the mistake.
PYTHON = {
    "HK0101": "of(8, 'allreduce', 1).chunk(0, input, 0).copy(9)",
    "HK0102": "of(8, 'allgather', 1).chunk(0, input, 0).copy(1, output, 8)",
    "HK0103": "of(4, 'allgather', 1).chunk(2, output, 0)",
    "HK0104": "of(4, 'allgather', 1).chunk(1, input, 0, 0)",
    "HK0105": "p = of(2, 'allreduce', 2)\np.chunk(0, input, 0).group(p.chunk(1, input, 1))",
    "HK0106": "p = of(2, 'allreduce', 3)\np.chunk(0, input, 0).group(p.chunk(0, input, 2))",
    "HK0107": "of(2, 'allreduce', 3).chunk(0, input, 0, 3).split(2)",
    "HK0108": "of(8, 'allreduce', 1, hocket.dgx1()).chunk(0, input, 0).copy(5)",
    "HK0109": """
        from msccl.language import Buffer, MSCCLProgram, chunk
        from msccl.language.collectives import AllReduce
        from msccl.topologies import fully_connected
        with MSCCLProgram("ring", fully_connected(2), AllReduce(2, 1, False), 1):
            chunk(1, Buffer.input, 0).reduce(0, Buffer.output, 0)""",
    "HK0110": "p = of(2, 'allreduce', 2)\np.chunk(0, input, 0).reduce(p.chunk(1, input, 0, 2))",
    "HK0111": "of(2, 'allreduce', 3).chunk(0, input, 0, 2).copy(0, input, 1)",
    "HK0112": "c = of(2, 'allreduce', 1).chunk(0, input, 0)\nc.reduce(c)",
    "HK0113": "of(2, 'allreduce', 1).chunk(0, input, 0).copy(1, ch=-2)",
    "HK0114": "of(2, 'allreduce', 1).chunk(0, input, 0).copy(1, send_tb=-7)",
    "HK0115": "of(2, 'allreduce', 1, placement='manual').chunk(0, input, 0).copy(1, send_tb=0)",
    "HK0116": "of(2, 'allreduce', 1, instances=0)",
    "HK0117": "of(2, 'allreduce', 1, protocol='LL256')",
    "HK0118": """
        p, q = of(2, 'allreduce', 1), of(2, 'allreduce', 1)
        p.chunk(0, input, 0).reduce(q.chunk(1, input, 0))""",
    "HK0119": """
        p = of(2, 'allreduce', 2)
        old = p.chunk(0, input, 0).copy(0, output, 0)
        p.chunk(0, input, 1).copy(0, output, 0)
        old.copy(1)""",
    "HK0120": "p = of(2, 'allreduce', 1)\nwith p.parallelize(2), p.parallelize(2): pass",
    "HK0121": "of(2, 'allreduce', 1).chunk(0, input, 0).copy(1, output)",
    "HK0122": "import msccl.language\nmsccl.language.Check()",
    "HK0123": """
        from msccl.language import Buffer, MSCCLProgram, chunk
        from msccl.language.collectives import AllReduce
        from msccl.topologies import fully_connected
        with MSCCLProgram("ring", fully_connected(2), AllReduce(2, 1, False), 1):
            chunk(1, Buffer.input, 0).send(0, Buffer.output, 0)""",
    "HK0124": "of(2, 'allreduce', 1).chunk(0, input, 0).copy(0, input, 0)",
    "HK0125": "Topology.from_table('mine', [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0], [1, 1, 1, 0]])",
    "HK0126": "of(2, 'allreduce', 1).chunk(0, input, 0).copy(1, '')",
    "HK0127": """
        from msccl.language import Buffer, MSCCLProgram, chunk
        from msccl.language.collectives import ReduceScatter
        from msccl.topologies import fully_connected
        with MSCCLProgram("ring", fully_connected(2), ReduceScatter(2, 1, True), 1):
            chunk(0, Buffer.input, 0).copy(1, Buffer.output, 0)""",
    "HK0201": "hocket.broadcast(8, 1, root=8)",
    "HK0202": "of(4, 'allreduce', 1, hocket.dgx1())",
    "HK0203": """
        p = of(4, 'allreduce', 1)
        sum = p.chunk(0, input, 0)
        for r in range(1, 3):
            sum.reduce(p.chunk(r, input, 0))
        for r in range(4):
            sum.copy(r, output, 0)
        p.check().require()""",
    "HK0204": """
        halo = hocket.CustomCollective("halo", 2).without_postcondition().build()
        hocket.Program("ring", hocket.ring(2), halo).check().require()""",
    "HK0301": """
        p = of(3, 'allgather', 1, placement='manual')
        p.chunk(0, input, 0).copy(1, output, 0, send_tb=0, recv_tb=0)
        p.chunk(0, input, 0).copy(2, output, 0, send_tb=0, recv_tb=0)
        hocket.compile(p)""",
    "HK0302": """
        p = of(2, 'allreduce', 2, placement='manual')
        p.chunk(0, input, 0).copy(1, output, 0, ch=0, send_tb=0, recv_tb=0)
        p.chunk(0, input, 1).copy(1, output, 1, ch=0, send_tb=1, recv_tb=0)
        hocket.compile(p)""",
    "HK0303": """
        p = of(2, 'allgather', 1, instances=2, replication='batched')
        for r in range(2):
            p.chunk(r, input, 0).copy(r, output, r).copy(1 - r)
        hocket.compile(p)""",
    "HK0305": "hocket.compile(of(2, 'allreduce', 1), print_after='fusion')",
    "HK0306": "of(2, 'allreduce', 4096, instances=1048576)",
    "HK0401": "limit(text('cpy i[1] -> o[1]\\n' * 65), 'rccl')",
    "HK0402": "limit(text(rest=''.join(f'tb {n}\\n' for n in range(1, 65))), 'rccl')",
    "HK0403": "limit(text(header='channels=33'), 'msccl')",
    "HK0404": "limit(text('cpy i[1] -> o[1] cnt=72'), 'msccl')",
    "HK0405": "limit(text('cpy i[32768] -> o[1]'), 'rccl')",
    "HK0406": "limit(text('cpy i[1] -> o[1] after=128:0'), 'msccl-executor')",
    "HK0407": """
        crowd = lambda n, steps: f"tb {n}\\n" + "cpy i[1] -> o[1]\\n" * steps
        limit(text(rest="".join(crowd(n, 254) for n in range(1, 17)) + crowd(17, 9)), 'msccl')""",
    "HK0408": "limit(text().replace('r i[0]', 'rrc i[0]'), 'rccl')",
    "HK0409": "limit(text(collective='all_to_next_forward ranks=2 factor=2'), 'rccl')",
    "HK0410": """
        senders = "".join(f"tb {n} send=0\\ns i[0] -> s[0]\\n" for n in range(1, 40))
        limit(text(rest=senders), 'rccl')""",
    "HK0411": "limit(text(header='min=100 max=99'), 'msccl')",
    "HK0412": "from_text(text().replace('pair', 'a' * 256)).to_xml('msccl')",
    "HK0413": "limit(text(sizes='in=1'), 'msccl')",
    "HK0414": "limit(text(''.join(f're s[{n}] -> o[1]\\n' for n in range(16))), 'rccl')",
    "HK0415": "limit(text('nop after=0:0\\ncpy i[1] -> o[1]'), 'rccl')",
    "HK0416": """
        limit('algorithm "wide"\\ncollective allreduce ranks=1025\\n'
              + ''.join(f'rank {n}\\n' for n in range(1025)), 'msccl-executor')""",
    "HK0417": """
        limit('algorithm "pair" proto=LL in_place\\ncollective allreduce ranks=2 factor=1\\n'
              'rank 0\\n tb 0 send=1 recv=1\\n s i[0]\\n r i[0]\\n'
              'rank 1\\n tb 0 send=0 recv=0\\n s i[0]\\n r i[0]\\n', 'rccl')""",
    "HK0501": "xml(('</gpu>', ''))",
    "HK0502": "xml((' cnt=\"1\"', ''))",
    "HK0503": "xml((' s=\"1\"', ' s=\"2\"'))",
    "HK0504": "xml(('srcoff=\"0\"', 'srcoff=\"1\"'), ('cnt=\"1\"', 'cnt=\"2\"'))",
    "HK0505": "xml(('gpu id=\"1\"', 'gpu id=\"0\"'))",
    "HK0506": "xml(('ngpus=\"2\"', 'ngpus=\"3\"'))",
    "HK0507": "xml(('<algo', '<algo maxcount=\"1\"'))",
    "HK0508": "from_xml('<' * 104857600, 'junk.xml')",
    "HK0509": "xml(('send=\"1\"', 'send=\"-1\"'))",
    "HK0601": "from_text(text('rrsc i[0]'), 'pair.txt')",
    "HK0602": "from_text(text().replace('tb 0', 'tb 1', 1), 'pair.txt')",
    "HK0701": """
        swap = lambda r, n: f"rank {r}\\n tb 0 send={n} recv={n}\\n r o[0]\\n s i[0]\\n"
        pair = 'algorithm "pair"\\ncollective allreduce ranks=2\\n' + swap(0, 1) + swap(1, 0)
        hocket.LocalExecutor(from_text(pair)).self_test(count=1)""",
    "HK0702": """
        executor = hocket.LocalExecutor(hocket.compile(hocket.make_algorithm("allreduce_ring", ranks=8)))
        executor.run([bytearray(8)] * 7, [bytearray(8)] * 7)""",
    "HK0703": """
        wide = text('r i[0]', sizes='scratch=1').replace('rank 1', 'rank 1 scratch=1')
        hocket.LocalExecutor(from_text(wide))""",
    "HK0704": """
        copies = "".join(f"rank {r}\\n tb 0\\n cpy i[0] -> o[0]\\n" for r in range(2))
        pair = from_text('algorithm "pair"\\ncollective allreduce ranks=2\\n' + copies)
        hocket.run(pair, 4096, dtype='int32')""",
    "HK0705": "hocket.run(hocket.compile(hocket.make_algorithm('allreduce_ring')), dtype='float8')",
    "HK0801": "hocket.make_algorithm('allreduce_rnig')",
    "HK0802": "hocket.make_algorithm('allreduce_ring', ranks=0)",
}

# The arguments of `hocket`.
COMMANDS = {
    "HK0901": ["stats", "ring.xml"],
    "HK0902": ["gen", "allreduce_ring", "-o", "out/ring.xml"],
    "HK0903": ["chekc"],
    "HK0603": ["verify", "allreduce_ring", "--post", str(MISTAKES / "HK0603.json")],
    "HK0604": ["verify", "allreduce_ring", "--post", str(MISTAKES / "HK0604.json")],
    "HK0418": ["verify", str(MISTAKES / "HK0418.txt"), "--target", "msccl"],
}
# What `hocket verify` says: a file each.
COMMANDS.update({file.stem: ["verify", str(file)] for file in sorted(MISTAKES.glob("HK10*.txt"))})


def printed_by_python(mistake):
    """Every line that the mistake makes: of its exception, of its warnings, of the limits it breaks."""
    lines = []
    source = textwrap.dedent(mistake).strip()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            scope = {}
            exec(compile(PRELUDE, "prelude.py", "exec"), scope)
            exec(compile(source, "ring.py", "exec"), scope)
        except hocket.Error as error:
            lines += str(error).splitlines()
        except SystemExit as limits:
            lines += [line for limit in limits.code for line in str(limit).splitlines()]
    for warning in seen:
        lines += str(warning.message).splitlines()
    return lines


def printed_by_command(hocket_command, arguments):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([hocket_command, *arguments], cwd=folder, text=True, capture_output=True)
    return run.stdout.splitlines() + run.stderr.splitlines()


def examples_of(page):
    """(code, number of the first line, lines) of every example: a fenced block, or the part of it that ends
    where the next message begins."""
    found, lines, inside = [], page.read_text().splitlines(), False
    for number, line in enumerate(lines, start=1):
        if line.startswith("```"):
            inside = not inside
        elif inside and (match := MESSAGE.match(line)):
            found.append((match["code"], number, [line]))
        elif inside:
            found[-1][2].append(line)
    return found


def words(line):
    """The line without the place, which is some program's."""
    return re.sub(r"^(\S+:\d+: )?(error: |warning: )?", "", line.strip())


def main():
    hocket_command = os.path.abspath(sys.argv[1])
    wrong = 0
    examples = examples_of(PAGE)
    for code, number, shown in examples:
        if code in PYTHON:
            printed = printed_by_python(PYTHON[code])
        elif code in COMMANDS:
            printed = printed_by_command(hocket_command, COMMANDS[code])
        else:
            print(f"docs/errors.md:{number}: no mistake of this test provokes {code}")
            wrong += 1
            continue
        said = [words(line) for line in printed]
        missing = [line for line in shown if words(line) not in said]
        if missing:
            wrong += 1
            print(f"docs/errors.md:{number}: shows")
            print(*missing, sep="\n")
            print("but what is printed is", *printed, sep="\n  ")
    print(f"{len(examples)} examples, {wrong} wrong")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
