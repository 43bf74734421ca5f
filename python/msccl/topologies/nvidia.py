"""NVIDIA machines."""

from hocket import _core
from msccl.topologies.topology import Topology


def dgx1():
    return Topology._from_core(_core.dgx1())


def dgx_a100():
    return Topology._from_core(_core.dgx_a100())


def nvlink_only(nvidia_smi_topo=None):
    """From the text of ``nvidia-smi topo -m``; runs it when None."""
    if nvidia_smi_topo is None:
        import subprocess

        nvidia_smi_topo = subprocess.run(
            ["nvidia-smi", "topo", "-m"], capture_output=True, text=True, check=True
        ).stdout
    return Topology._from_core(_core.nvlink_only(nvidia_smi_topo))
