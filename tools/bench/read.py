"""`SafetensorsResource` against `safetensors.torch.load_file` on one file.

    bazel run -c opt //tools/bench:read
    bazel run -c opt //tools/bench:read -- --mebibytes 64 --tensors 300

Both read every tensor and look at every element. Exit code 1 when ours takes over 10 % more time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tilefoundry.runtime import SafetensorsResource
from tools.bench.measuring import costs

LIMIT = 1.1
PEER, OURS = "safetensors.torch.load_file", "SafetensorsResource"


def main(argv: Sequence[str]) -> int:
    """The command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="read", description="SafetensorsResource against safetensors' load_file")
    parser.add_argument("--mebibytes", type=int, default=1024, help="size of the file")
    parser.add_argument("--tensors", type=int, default=200, help="how many tensors it holds")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(argv)
    names = [f"layer{i}.w" for i in range(options.tensors)]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "model.safetensors")
        elements = options.mebibytes * 2**20 // 4 // options.tensors
        save_file({name: torch.randn(elements) for name in names}, file)

        def peer() -> float:
            tensors = load_file(file)
            return sum(float(tensors[name].sum()) for name in names)

        def ours() -> float:
            with SafetensorsResource(directory, device="cpu") as resource:
                return sum(float(resource.load(name).sum()) for name in names)

        assert peer() == ours()
        found = costs({PEER: peer, OURS: ours}, options.repeats)
    print(f"{options.tensors} tensors, {options.mebibytes} MiB together, {torch.get_num_threads()} thread(s)")
    for name, cost in found.items():
        print(f"  {name:30}{cost}")
    time = found[OURS].seconds / found[PEER].seconds
    print(f"SafetensorsResource takes {time:.2f} times the time; at most {LIMIT} is wanted")
    return 0 if time <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
