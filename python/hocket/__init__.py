"""Hocket: write, check, compile and run your own collective communication algorithms.

A program moves chunks between ranks and is traced as it runs::

    import hocket

    def ring_allgather(n):
        program = hocket.Program("ring_allgather", hocket.ring(n), hocket.allgather(n, 1))
        for r in range(n):
            c = program.chunk(r, hocket.Buffer.input, 0).copy(r, hocket.Buffer.output, r)
            for hop in range(1, n):
                c = c.copy((r + hop) % n)
        return program

    program = ring_allgather(8)
    program.check().require()                # is it an allgather?
    algorithm = hocket.compile(program)
    print(hocket.run(algorithm, "1MiB"))     # on real data, every rank's output compared
    print(algorithm.to_xml())                # what the MSCCL runtimes load

Every mistake is a :class:`hocket.Error` raised at the call that makes it. The names are those of the
C++ library.
"""

from __future__ import annotations

import os as _os

from hocket import _core
from hocket._core import (
    Algorithm,
    AlgorithmInfo,
    AlgorithmStats,
    Buffer,
    CheckReport,
    Collective,
    CustomCollective,
    DataMismatch,
    Diagnostic,
    FinalContents,
    Finding,
    Fragment,
    Link,
    LocalExecutor,
    Location,
    Note,
    ParameterInfo,
    PlacementReport,
    Program,
    PropertyRuling,
    Rank,
    Ref,
    SelfTestResult,
    Step,
    StepPlace,
    SumOrder,
    Switch,
    ThreadBlock,
    Topology,
    VerifyReport,
    WrongChunk,
    __version__,
    algorithm_library,
    all_to_next_backward,
    all_to_next_forward,
    allgather,
    allreduce,
    alltoall,
    amd4,
    amd8,
    broadcast,
    check_limits,
    codes,
    compile,
    compile_passes,
    dgx1,
    dgx_a100,
    distributed_fully_connected,
    distributed_hub_and_spoke,
    from_any,
    from_post_json,
    from_text,
    from_xml,
    fully_connected,
    gather,
    hub_and_spoke,
    infer_root,
    line,
    make_algorithm,
    nvlink_only,
    reduce,
    reduce_scatter,
    ring,
    scatter,
    star,
    to_text,
    to_xml,
    verify,
)

_core._add_package_directory(_os.path.dirname(__file__) + _os.sep)

from hocket import errors  # noqa: E402
from hocket._running import run  # noqa: E402
from hocket.errors import (  # noqa: E402
    Error,
    HocketDeprecationWarning,
    HocketWarning,
    InternalError,
)

__all__ = [
    "Algorithm",
    "AlgorithmInfo",
    "AlgorithmStats",
    "Buffer",
    "CheckReport",
    "Collective",
    "CustomCollective",
    "DataMismatch",
    "Diagnostic",
    "Error",
    "FinalContents",
    "Finding",
    "Fragment",
    "HocketDeprecationWarning",
    "HocketWarning",
    "InternalError",
    "Link",
    "LocalExecutor",
    "Location",
    "Note",
    "ParameterInfo",
    "PlacementReport",
    "Program",
    "PropertyRuling",
    "Rank",
    "Ref",
    "SelfTestResult",
    "Step",
    "StepPlace",
    "SumOrder",
    "Switch",
    "ThreadBlock",
    "Topology",
    "VerifyReport",
    "WrongChunk",
    "__version__",
    "algorithm_library",
    "all_to_next_backward",
    "all_to_next_forward",
    "allgather",
    "allreduce",
    "alltoall",
    "amd4",
    "amd8",
    "broadcast",
    "check_limits",
    "codes",
    "compile",
    "compile_passes",
    "dgx1",
    "dgx_a100",
    "distributed_fully_connected",
    "distributed_hub_and_spoke",
    "errors",
    "from_any",
    "from_post_json",
    "from_text",
    "from_xml",
    "fully_connected",
    "gather",
    "hub_and_spoke",
    "infer_root",
    "line",
    "make_algorithm",
    "nvlink_only",
    "reduce",
    "reduce_scatter",
    "ring",
    "run",
    "scatter",
    "star",
    "to_text",
    "to_xml",
    "verify",
]
