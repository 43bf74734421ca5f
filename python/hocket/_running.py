"""run(): an algorithm on real data in this process, its result compared."""

from __future__ import annotations

from hocket import _core

_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}


def parse_bytes(size: int | str) -> int:
    """A number of bytes: an int, or text such as '64KiB', '1MB' (10**6) or '4096'."""
    if isinstance(size, int):
        number, factor = size, 1
    else:
        text = size.strip()
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
        unit = text[len(digits) :].strip().lower()
        if unit not in _UNITS or not digits:
            raise ValueError(f"size {size!r}, but it must be bytes, or a number with KiB, MB, ...")
        factor = _UNITS[unit]
        try:
            number = int(digits) if digits.isdigit() else float(digits)
        except ValueError:
            raise ValueError(f"size {size!r}, whose number cannot be read") from None
    total = int(number * factor)
    if total < 0:
        raise ValueError(f"size {size!r}, but it cannot be negative")
    return total


def run(
    algorithm: _core.Algorithm,
    nbytes: int | str = "1MiB",
    *,
    dtype: str = "float32",
    op: str = "sum",
    in_place: bool | None = None,
    check: bool = True,
    repeats: int = 1,
    threads: int = 0,
    slots: int | None = None,
    seed: int = 1,
) -> _core.SelfTestResult:
    """Runs `algorithm` on test data of `nbytes` (of the larger buffer of a rank) and compares.

    `dtype`: 'float32', 'float64', 'int32', 'int64', 'uint8', 'float16' or 'bfloat16'. `op`: 'sum',
    'prod', 'min' or 'max'. `in_place`: as the algorithm allows, by default out of place where it
    can. `repeats` runs have new inputs each; the time is their median.

    Raises hocket.Error: HK0704 where an element is wrong (with the first one), HK0701 where the
    algorithm deadlocks.
    """
    if in_place is None:
        in_place = not algorithm.out_of_place
    executor = _core.LocalExecutor(algorithm)
    result = executor.self_test(
        count=_core._count_for_bytes(algorithm, parse_bytes(nbytes), dtype),
        dtype=dtype,
        op=op,
        in_place=in_place,
        check=check,
        repeats=repeats,
        threads=threads,
        slots=slots,
        seed=seed,
    )
    if result.mismatch is not None:
        _core._make_error("HK0704", str(result.mismatch))
    if check and not result.checked:
        _core._warn(
            "HK0204",
            "nothing was compared: the collective's postcondition is not known",
            "declare the collective with CustomCollective.requires()",
        )
    return result
