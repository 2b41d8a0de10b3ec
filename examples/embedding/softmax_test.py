"""The program evaluated, compiled here and compiled by the build, all against torch."""

from pathlib import Path

import torch
from softmax import Softmax

import tilefoundry


def main() -> None:
    """Fails where one of them is off by more than a few units in the last place."""
    built = tilefoundry.load(Path(__file__).absolute().with_name("softmax_kernel.so"))
    compiled = tilefoundry.jit(Softmax, target="cpu")
    for rows in (1, 5, 100):
        x = torch.randn(rows, 64, generator=torch.Generator().manual_seed(rows))
        expected = torch.softmax(x, dim=-1)
        for run in (Softmax.softmax, compiled, built):
            torch.testing.assert_close(run(x), expected, rtol=1e-6, atol=1e-7)


if __name__ == "__main__":
    main()
