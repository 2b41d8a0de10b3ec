"""A library of several entries against f64: what `tilefoundry_kernel_library` builds, on a device."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch

from examples.native.program import COLUMNS, KERNELS
from tilefoundry import check, evaluate, load
from tilefoundry.ir.core.module import Module
from tilefoundry.runtime import RelL2
from tools.device_bundle.correctness import Verdict

ROWS = (1, 3, 4, 1000)
_BOUND = 1e-6


def judge_rows(library: Path, device: torch.device) -> list[Verdict]:
    """Runs each entry of the library of `examples/native` over numbers of rows; outputs hold NaN first."""
    torch.manual_seed(1)
    weights = {"rms_norm": (torch.randn(COLUMNS),)}
    return [_judge(library, entry, module, weights.get(entry, ()), device) for entry, module in KERNELS.items()]


def _judge(
    library: Path, entry: str, module: Module, weights: tuple[torch.Tensor, ...], device: torch.device
) -> Verdict:
    kernel = load(library, entry)
    worst, failures = 0.0, []
    for rows in ROWS:
        x = torch.randn(rows, COLUMNS)
        out = torch.full_like(x, math.nan, device=device)
        kernel(*(tensor.to(device) for tensor in (x, *weights)), out)
        reference: Any = evaluate(module, x, *weights, precision="f64")
        exact: torch.Tensor = reference.float()
        report = check(
            lambda found=out: found.cpu(), lambda wanted=exact: wanted, (), expect={"output": [RelL2(_BOUND)]}
        )
        worst = max(worst, float(torch.linalg.norm(out.cpu() - exact) / torch.linalg.norm(exact)))
        if not report.passed:
            failures.append(f"{rows} rows: {report}")
    return Verdict(f"{library.stem}: {entry}", len(ROWS), worst, _BOUND, tuple(failures))
