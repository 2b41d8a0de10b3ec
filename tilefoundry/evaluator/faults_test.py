"""What has no one value is refused: at the author's place, with the tensor, the element and the units."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import math

import pytest
import torch

from tilefoundry.diagnostics import EvalError
from tilefoundry.evaluator import evaluate
from tilefoundry.evaluator.dtypes import torch_dtype
from tilefoundry.python.testing import load_program, marked

HEAD = """
from tilefoundry.python import func
from tilefoundry.dsl import *
CTA, THREAD = Topology("cta", 3), Topology("thread", 8)
"""

SCOPES = 'with Mesh(("cta",), (3,), ("c",)) as c, Mesh(("thread",), (4, 2), ("w", "l")) as m:'


def faulty(result: str, *lines: str, x: str = '(8, 6), "f32"') -> str:
    """A program whose marked place is refused; `x` declares its input."""
    head = ["@func(topologies=(CTA, THREAD))", f"def f(x: Tensor[{x}]) -> Tensor[{result}]:", f"    {SCOPES}"]
    return "\n".join([*head, *(f"        {line}" for line in lines)])


X = '(8, 6), "f32"'
FAULTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "copies of a result": (
        faulty(X, "y = §x + tf.cast(m.l, 'f32')", "return y"),
        ("the result of 'f'", "element (0, 0)", "thread 0 holds 0.0", "thread 1 holds 1.0"),
    ),
    "copies of one of several results": (
        faulty(f"{X}], Tensor[{X}", "return x, §x + tf.cast(c.c, 'f32')").replace(
            f"-> Tensor[{X}], Tensor[{X}]", f"-> tuple[Tensor[{X}], Tensor[{X}]]"
        ),
        ("the result of 'f'[1]", "cta 0 holds 0.0", "cta 1 holds 1.0"),
    ),
    "copies of a Broadcast that is resharded": (
        faulty(
            X,
            "r = tf.reshard(x, (8 @ m.w, 6), 'rmem')",
            "y = tf.where(m.l == 1, r, 0.0 * r)",
            "z = y + 1.0",
            "return §tf.reshard(z, (8, 6 @ m.l), 'gmem')",
        ),
        ("reshard of 'z'", "copies disagree at element (0, 1)", "thread 0 holds 1.0", "thread 1 holds 2.0"),
    ),
    "copies in the tile of a CTA": (
        faulty(X, "y = §tf.reshard(x + tf.cast(m.w + c.c, 'f32'), (8, 6), 'smem')", "return y"),
        ("reshard", "thread 0 of cta 0 holds 0.0", "thread 2 of cta 0 holds 1.0"),
    ),
    "a tile of each CTA as one result": (
        faulty(X, "y = tf.reshard(x + tf.cast(c.c, 'f32'), (8, 6), 'smem')", "return §y * 1.0"),
        ("the result of 'f'", "cta 0 holds 0.0", "cta 1 holds 1.0"),
    ),
    "one number on all elements": (
        faulty('(), "i64"', "return §m.w + x[0]", x='(8,), "i64"'),
        ("the one element", "thread 0 holds", "thread 2 holds"),
    ),
    "a Partial result": (
        faulty(
            '(8, 8), "f32"',
            "a = tf.reshard(x, (8, 8 @ m.w), 'rmem')",
            "b = tf.reshard(x, (8 @ m.w, 8), 'rmem')",
            "return §a @ b",
            x='(8, 8), "f32"',
        ),
        ("the result of 'f' is P(sum) along mesh axis 'w'", "never complete"),
    ),
    "a Partial result that depends on a coordinate": (
        faulty(
            '(8, 8), "f32"',
            "a = tf.reshard(x, (8, 8 @ m.w), 'rmem')",
            "b = tf.reshard(x, (8 @ m.w, 8), 'rmem')",
            "return §(a @ b) * tf.cast(m.w, 'f32')",
            x='(8, 8), "f32"',
        ),
        ("P(sum) along mesh axis 'w'",),
    ),
    "windows of several units on one element": (
        faulty(
            X,
            "r = tf.local(tf.reshard(x, (8 @ m.w, 6), 'rmem'))",
            "out = §tf.insert_slice(x, r, (m.w, 0))",
            "return out",
        ),
        ("insert_slice (out)", "element (1, 0) is written by several units", "thread 0 writes", "another writes"),
    ),
    "one window of all units": (
        faulty(X, "r = tf.local(tf.reshard(x, (8 @ m.w, 6), 'rmem'))", "return §tf.insert_slice(x, r, (2, 0))"),
        ("insert_slice: update: copies disagree at element (0, 0)", "thread 0 holds", "thread 2 holds"),
    ),
    "a destination on which units differ": (
        faulty(X, "y = x + tf.cast(m.w, 'f32')", "return §tf.insert_slice(y, x[0:1, :], (m.w, 0))"),
        ("insert_slice: dst: copies disagree at element (0, 0)",),
    ),
    "a window outside of the tensor, for some units": (
        faulty('(2, 6), "f32"', "y = §x[m.w * 2 + 1 : m.w * 2 + 3, :]", "return tf.zeros(Tensor[(2, 6), 'f32']) + y"),
        ("Slice window exceeds axis 0: elements 7 to 8 of extent 8", "thread 6"),
    ),
    "a written window outside of the tensor, for some units": (
        faulty(X, "return §tf.insert_slice(x, x[0:2, :], (m.w * 3, 0))"),
        ("insert_slice exceeds axis 0: elements 9 to 10 of extent 8", "thread 6"),
    ),
    "an index divided by zero on one unit": (
        faulty('(6,), "f32"', "return §x[8 // m.w, :]"),
        ("division by 0",),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    text, words = FAULTS[name]
    source, place = marked(HEAD + text)
    module = load_program(source)["f"]
    (param,) = module.entry_function().params
    x = torch.arange(math.prod(param.type.shape)).reshape(param.type.shape).to(torch_dtype(param.type.dtype))
    with pytest.raises(EvalError) as caught:
        evaluate(module, x)
    error = caught.value
    for word in words:
        assert word in error.message, error
    assert error.span is not None
    assert (error.span.line, error.span.column) == place, error


@pytest.mark.parametrize("expression", ["tf.repeat_interleave(x, 2**58, axis=0)", "tf.zeros(Tensor[(2**60,), 'f32'])"])
def test_a_value_that_does_not_fit_in_memory(expression: str) -> None:
    text, place = marked(f"""
        from tilefoundry.python import func
        from tilefoundry.dsl import *
        @func
        def f(x: Tensor[(4,), "f32"]) -> Tensor[(2**60,), "f32"]:
            return \u00a7{expression}
    """)
    with pytest.raises(EvalError, match=r"does not fit in memory") as refused:
        evaluate(load_program(text)["f"], torch.ones(4))
    assert (refused.value.span.line, refused.value.span.column) == place
    assert refused.value.remedy
