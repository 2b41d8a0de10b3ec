"""`for` over a tuple: the body once for each element, as if written so."""

from __future__ import annotations

import pytest

from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.hir import TupleGetItem
from tilefoundry.ir.structure import first_difference
from tilefoundry.python.testing import check_refusal, load_program

HEAD = """\
@module(entry="run")
class Scale:
    @func
    def run(x: Tensor[(8,), "f32"], w: ConstTensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x * w
FACTORS = (0.5, 2.0)
@module(entry="f")
class Program:
    layers = (Scale.renamed("a"), Scale.renamed("b"))
    other = Scale
    @func
    def f(x: Tensor[(8,), "f32"], y: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
"""


def program(*lines: str) -> str:
    """A module whose entry has these lines."""
    return HEAD + "\n".join(f"        {line}" for line in lines)


def entry(*lines: str) -> Function:
    """The entry of that module."""
    module = load_program(program(*lines))["Program"]
    assert isinstance(module, Module)
    function = module.entry_function()
    assert isinstance(function, Function)
    return function


@pytest.mark.parametrize(
    ("repeated", "written"),
    [
        (("for layer in layers:", "    x = layer(x)", "return x"), ("x = a(x)", "x = b(x)", "return x")),
        (("for layer in layers + (other,):", "    x = layer(x)", "return x"),
         ("x = a(x)", "x = b(x)", "x = other(x)", "return x")),
        (("for i, layer in enumerate(layers):", "    x = layer(x) + x[i]", "return x"),
         ("x = a(x) + x[0]", "x = b(x) + x[1]", "return x")),
        (("for factor in FACTORS:", "    x = x * factor", "return x"), ("x = x * 0.5", "x = x * 2.0", "return x")),
        (("for t in (x, y):", "    z = tf.exp(t)", "return z"), ("z = tf.exp(x)", "z = tf.exp(y)", "return z")),
        (("for u, v in ((x, 1.0), (y, 2.0)):", "    x = x + u * v", "return x + u"),
         ("u, v = x, 1.0", "x = x + u * v", "u, v = y, 2.0", "x = x + u * v", "return x + u")),
        (("for u in (x, y):", "    for v in (x, y):", "        z = u + v", "return z"), ("z = y + y", "return z")),
        (("for i in range(3):", "    for factor in FACTORS:", "        x = x * factor", "return x"),
         ("for i in range(3):", "    x = x * 0.5", "    x = x * 2.0", "return x")),
        (("for u in (y, y * y):", "    for i in range(3):", "        x = x + u", "return x"),
         ("u = y", "for i in range(3):", "    x = x + u", "u = y * y", "for i in range(3):", "    x = x + u",
          "return x")),
        (("for u in ():", "    x = u + x", "return x"), ("return x",)),
        (("for u in (x, y):", "    return u"), ("return x",)),
    ],
    ids=["children", "concatenation", "enumerate", "numbers", "tensors", "pairs", "nested", "in a loop",
         "around a loop", "nothing", "return"],
)  # fmt: skip
def test_the_body_is_repeated(repeated: tuple[str, ...], written: tuple[str, ...]) -> None:
    ours, plain = entry(*repeated), entry(*written)
    assert ours.body is not None
    assert first_difference(ours, plain) is None


def test_a_call_that_gives_several_values_is_run_over() -> None:
    split = "tf.split(x, axis=0, num_splits=2)"
    last = entry(f"for part in {split}:", "    y = tf.insert_slice(y, part, (0,))", "return y").body
    assert isinstance(last, Call)
    first = last.args[0]
    assert isinstance(first, Call)
    parts = [call.args[1] for call in (first, last)]
    assert [part.target for part in parts if isinstance(part, Call)] == [TupleGetItem(0), TupleGetItem(1)]


@pytest.mark.parametrize("index", [0, 1, -1, -2])
def test_a_subscript_takes_one_of_several_values(index: int) -> None:
    part = entry("p = tf.split(y, axis=0, num_splits=2)", f"return tf.insert_slice(x, p[{index}], (0,))").body
    assert isinstance(part, Call)
    taken = part.args[1]
    assert isinstance(taken, Call)
    assert taken.target == TupleGetItem(index % 2)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (("for t in §x:", "    y = t", "return x"), ("range(...) or tile(...)", "a tuple")),
        (("for i, t in §enumerate(x):", "    y = t", "return x"), ("range(...) or tile(...)", "one tuple")),
        (("for i, t in §enumerate(layers, 1):", "    y = t", "return x"), ("one tuple", "from 0 on")),
        (("for i, t in §layers:", "    y = t(x)", "return x"), ("several values to unpack", "module 'a'")),
        (("for §i, u, v in enumerate(layers):", "    y = u(x)", "return x"), ("3 names for 2 values",)),
        (("for t in (x, y):", "    x = t", "else:", "    §y = x", "return x"), ("'else' of a 'for'",)),
        (("for t in (x, y):", "    x = t + §u", "return x"), ("'u' is not defined",)),
        (("for i in range(2):", "    for t in (x, y):", "        §return t", "return x"), ("'return' inside a loop",)),
    ],
)  # fmt: skip
def test_refusals(lines: tuple[str, ...], words: tuple[str, ...]) -> None:
    check_refusal(program(*lines), words)


def test_a_subscript_takes_one_of_the_values_of_a_function() -> None:
    vector = "Tensor[(8,), 'f32']"
    both = f"@func\ndef both(x: {vector}) -> tuple[{vector}, {vector}]:\n    return x, -x\n"
    function = load_program(f"{both}@func\ndef f(x: {vector}) -> {vector}:\n    return both(x)[-1]\n")["f"]
    assert isinstance(function, Function)
    assert isinstance(function.body, Call)
    assert function.body.args == function.params
