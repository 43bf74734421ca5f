"""run(): an algorithm on real data in this process, its result compared."""

from __future__ import annotations

from hocket import _core

# As the command line reads them: K and KiB are 1024, KB is 1000.
_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", start=1):
    _UNITS[_letter] = _UNITS[_letter + "ib"] = 1024**_power
    _UNITS[_letter + "b"] = 1000**_power


def parse_bytes(size: int | str) -> int:
    """A number of bytes: an int, or text such as '64KiB', '1MB' (10**6) or '4096'."""
    if isinstance(size, int):
        number, factor = size, 1
    else:
        text = size.strip()
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
        factor = _UNITS.get(text[len(digits) :].strip().lower(), 0)
        try:
            number = int(digits) if digits.isdigit() else float(digits)
        except ValueError:
            factor = 0
        if factor == 0:
            raise ValueError(
                f"size {size!r}, expected a number of bytes, as 4096, '64KiB', '1M' (1024 * 1024) "
                "or '1MB' (1000 * 1000)"
            )
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
    if not isinstance(algorithm, _core.Algorithm):
        raise TypeError(
            f"run() takes an Algorithm, not a {type(algorithm).__name__}; compile() makes one of a Program"
        )
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
