"""Plans for Azure NDv4: 8 A100 GPUs a machine on NVSwitch, 8 InfiniBand links between machines.

Small allreduces exchange between all pairs (two steps), larger ones go round a ring; an alltoall first
gathers what crosses to another machine, on one GPU a receiver (two steps) or a machine (three)."""

from msccl.autosynth.registry import register_msccl_program
from msccl.language import ThreadblockPolicy
from msccl.programs.allreduce_a100_ring import allreduce_ring
from msccl.programs.allreduce_allpairs import allreduce_allpairs as allpairs
from msccl.programs.alltoall_a100_8kp1 import alltoall_three_step as three_step
from msccl.programs.alltoall_a100_yifan import alltoall_hierarchical
from msccl.topologies import fully_connected

GPUS = 8


def register():
    local = fully_connected(GPUS)

    for instances, sizes in ((2, ("2KB", "32KB")), (4, ("32KB", "256KB"))):

        @register_msccl_program(
            local, "allreduce", "ndv4", machines=lambda n: n == 1, sizes=sizes, protocol="LL",
            chunk_factor=GPUS * GPUS, inplace=True, instances=instances,
            threadblock_policy=ThreadblockPolicy.manual, interleaved_replication=False,
            dependence_nop=True,
        )  # fmt: skip
        def allreduce_allpairs(program, nodes):
            allpairs(GPUS)

    for protocol, sizes in (("LL", ("256KB", "1MB")), ("LL128", ("1MB", "32MB"))):

        @register_msccl_program(
            local, "allreduce", "ndv4", machines=lambda n: n == 1, sizes=sizes, protocol=protocol,
            chunk_factor=GPUS, inplace=True, instances=8,
        )  # fmt: skip
        def allreduce_ring_a100(program, nodes):
            allreduce_ring(GPUS, 1)

    for protocol, sizes in (("LL", ("16KB", "1MB")), ("Simple", ("1MB", None))):

        @register_msccl_program(
            local, "alltoall", "ndv4", machines=lambda n: 2 <= n <= GPUS, sizes=sizes,
            protocol=protocol,
        )  # fmt: skip
        def alltoall_two_step(program, nodes):
            alltoall_hierarchical(nodes, GPUS)

        @register_msccl_program(
            local, "alltoall", "ndv4", machines=lambda n: n > GPUS, sizes=sizes, protocol=protocol
        )
        def alltoall_three_step(program, nodes):
            three_step(nodes, GPUS)
