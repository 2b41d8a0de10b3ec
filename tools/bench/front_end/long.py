"""Source texts of long programs: many statements, and calls whose values add up to many."""

from __future__ import annotations

_HEAD = """\
from tilefoundry import func, module
from tilefoundry.dsl import Tensor, tf

T = Tensor[(4, 8), "f32"]

"""

_FUNCTION = """
    @func
    def f{k}(x: T) -> T:
        return {value}
"""


def statements(count: int) -> str:
    """One function of `count` statements, of two ops each."""
    lines = "".join(f"    x = tf.exp(x) + {k}.0\n" for k in range(count))
    return f"{_HEAD}\n@func\ndef program(x: T) -> T:\n{lines}    return x\n"


def chain(length: int) -> str:
    """A module of functions, each of which calls the one before: ``length * (length + 1) / 2`` values in all."""
    return _calls(length, "f{before}(x) + x")


def doubling(depth: int) -> str:
    """A module of functions, each of which calls the one before twice: ``2 ** (depth + 1)`` values in all."""
    return _calls(depth, "f{before}(f{before}(x))")


def loops(count: int) -> str:
    """One function that calls another one `count` times: as many loops, each on the values of all before it."""
    callee = "    for i in range(4):\n        x = tf.exp(x) * y\n    return x\n"
    lines = "    x = f(x, x)\n" * count
    return f"{_HEAD}\n@func\ndef f(x: T, y: T) -> T:\n{callee}\n\n@func\ndef program(x: T) -> T:\n{lines}    return x\n"


def _calls(count: int, value: str) -> str:
    functions = [_FUNCTION.format(k=0, value="tf.exp(x)")]
    functions += [_FUNCTION.format(k=k, value=value.format(before=k - 1)) for k in range(1, count + 1)]
    return f'{_HEAD}\n@module(entry="f{count}")\nclass program:{"".join(functions)}'
