"""`check` against `torch.testing.assert_close` on two tensors of one size.

    bazel run -c opt //tools/bench:check
    bazel run -c opt //tools/bench:check -- --mebibytes 64 --repeats 5

Exit code 1 when `check` takes more than 3 times the time or the memory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import torch

from tilefoundry.runtime import AllClose, Cosine, MaxAbs, MaxRel, Predicate, RelL2, Ulp, check
from tools.bench.measuring import costs

LIMIT = 3.0
PEER, OURS, ALL = "torch.testing.assert_close", "check, allclose", "check, six predicates"


def main(argv: Sequence[str]) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="check", description="check against torch.testing.assert_close")
    parser.add_argument("--mebibytes", type=int, default=256, help="size of each of the two tensors")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float64"), default="float32")
    options = parser.parse_args(argv)
    dtype = getattr(torch, options.dtype)
    reference = torch.randn(options.mebibytes * 2**20 // dtype.itemsize, dtype=dtype)
    candidate = reference.clone()
    candidate[::7] *= 1 + 2**-7

    def ours(*predicates: Predicate) -> None:
        report = check(lambda: candidate, lambda: reference, (), expect={"output": predicates})
        assert report.passed, report

    close = AllClose(atol=1e-5, rtol=2e-2)
    found = costs(
        {
            PEER: lambda: torch.testing.assert_close(candidate, reference, atol=1e-5, rtol=2e-2),
            OURS: lambda: ours(close),
            ALL: lambda: ours(close, RelL2(1), Cosine(0), MaxAbs(1), MaxRel(1), Ulp(2**62)),
        },
        options.repeats,
    )
    print(f"two tensors of {options.mebibytes} MiB, {options.dtype}, {torch.get_num_threads()} thread(s)")
    for name, cost in found.items():
        print(f"  {name:28}{cost}")
    time = found[OURS].seconds / found[PEER].seconds
    memory = found[OURS].bytes / max(1, found[PEER].bytes)
    print(f"check takes {time:.2f} times the time and {memory:.2f} times the memory; at most {LIMIT} is wanted")
    return 0 if max(time, memory) <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
