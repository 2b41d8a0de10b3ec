"""Where attention goes, token to token, in the terminal."""

from __future__ import annotations

from typing import Protocol

import torch
from rich.console import Console
from rich.text import Text
from torch import Tensor

_SHADES = " ░▒▓█"
_LABEL_WIDTH = 12


class Attention(Protocol):
    """softmax(q kᵀ / sqrt(D)) v of (B, S, D) tensors."""

    def __call__(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor: ...


def attention_weights(attend: Attention, q: Tensor, k: Tensor) -> Tensor:
    """(S, S) attention weights, averaged over heads, by the kernel itself.

    With one-hot values attention returns its weights: D keys at a time, value j is the unit vector of its key.
    """
    _, length, dim = q.shape
    columns = []
    for start in range(0, length, dim):
        v = torch.zeros_like(q)
        count = min(dim, length - start)
        v[:, start : start + count, :count] = torch.eye(count, dtype=q.dtype, device=q.device)
        columns.append(attend(q, k, v)[:, :, :count].float().mean(0))
    return torch.cat(columns, dim=1).cpu()


def draw(console: Console, weights: Tensor, tokens: tuple[str, ...]) -> None:
    """Prints one row for each query token: its shades over the key tokens, and the token that it looks at most.

    Shades are relative to the row's largest weight. Where the terminal is too narrow the last keys are left out.
    """
    width = console.width - _LABEL_WIDTH - 24
    shown = min(len(tokens), max(width // 2, 1))
    console.print(
        f"Where attention goes (mean of the heads; each row to the keys 0 to {shown - 1}, left to right):",
        soft_wrap=True,
    )
    for row, token in enumerate(tokens):
        scaled = weights[row] / weights[row].max()
        line = Text(f"{row:3d} {_fit(token)} ")
        for value in scaled[:shown].tolist():
            shade = _SHADES[min(int(value * len(_SHADES)), len(_SHADES) - 1)]
            line.append(shade * 2, style=f"rgb({int(60 + 195 * value)},{int(60 + 110 * value)},60)")
        best = int(weights[row].argmax())
        line.append(f"  {tokens[best]} {float(weights[row, best]):.2f}")
        console.print(line, no_wrap=True, crop=True)


def _fit(token: str) -> str:
    width = _LABEL_WIDTH - 4
    return token[: width - 1] + "…" if len(token) > width else token.ljust(width)
