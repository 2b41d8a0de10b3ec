"""What the front end refuses of values and arguments of the compile time; see `refusals_test`."""

from __future__ import annotations

import pytest

from tilefoundry.python.testing import check_refusal


def body(*lines: str, head: str = "") -> str:
    """A program of one function with these body lines; `head` stands before it."""
    signature = '@func\ndef f(x: Tensor[(64, 32), "f32"]) -> Tensor[(64, 32), "f32"]:'
    return "\n".join([*([head] if head else []), signature, *(f"    {line}" for line in lines)])


OUTSIDE = 'OTHER = Mesh((Topology("thread", 8),), Layout((8,), (1,)), ("l",))'
RAISES = "class Lazy:\n    @property\n    def scale(self):\n        raise RuntimeError('not yet')\nlazy = Lazy()"

# name: (program, words)
REFUSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "one operand of max": (body("return x * §max(2)"), ("max takes two or more", "max(a, b)")),
    "max of a tensor": (body("return §max(x, 2.0)"), ("max works on numbers", "tf.maximum")),
    "a product of huge numbers": (
        body("n = §(2 ** 500) * (2 ** 500) * (2 ** 500)", "return x"),
        ("'*' gives an integer of 1501 bits; expected at most 64", "64 bits hold"),
    ),
    "a comparison of an op": (
        body("if §tf.exp == 3:", "    x = x + x", "return x"),
        ("expected numbers, strings, tuples or tensors to compare, got", "compute other conditions outside"),
    ),
    "a string among offsets": (
        body("y = tf.slice(x, §('a', 0), sizes=(1, 1))", "return x"),
        ("expected a tensor or a number, got 'a'",),
    ),
    "an op as condition": (body("if §tf.exp:", "    x = x + x", "return x"), ("expected a bool, got", "a comparison")),
    "a mesh as condition": (body("return x if §OTHER else x", head=OUTSIDE), ("expected a bool, got a mesh",)),
    "too deep": (
        body(f"return {'-' * 200}§{'-' * 20}x"),
        ("expression nested deeper than 200 levels", "one statement each"),
    ),
    "an update of too high a rank": (
        body("return §tf.insert_slice(x, tf.reshape(x, (1, 64, 32)), (0, 0))"),
        ("insert_slice: an update of rank 3 does not fit dst of rank 2", "reshape the update"),
    ),
    "an update of too low a rank": (
        body("for i in tile(64, 8):", "    x = §tf.insert_slice(x, tf.cast(1, 'f32'), (i, 0))", "return x"),
        ("an update of rank 0 does not fit dst of rank 2 with 1 tile window(s)",),
    ),
    "complex literal": (body("return x * §2j"), ("expected a bool, int, float or string", "2j")),
    "property that raises": (body("return x * §lazy.scale", head=RAISES), ("'.scale'", "RuntimeError: not yet")),
    "loop over another call": (body("for i in §sorted(4):", "    x = x", "return x"), ("expected range(...) or tile",)),
    "empty range": (body("for i in §range():", "    x = x + x", "return x"), ("1 to 3 arguments, got 0",)),
    "spread over a mesh outside": (
        body("for i in tile(64, 4) @ §OTHER.l:", "    x = x + x", "return x", head=OUTSIDE),
        ("mesh axis 'l' is not in scope",),
    ),
    "product of numbers": (body("y = §2 @ 3", "return x"), ("places an extent on a mesh axis", "got 2 @ 3")),
    "sign of a string": (body("y = §-'a'", "return x"), ("a number or a tensor after the sign",)),
    "complex power": (body("return x * (§(-8.0) ** 0.5)"), ("is complex; expected a real number",)),
    "bound below the extent": (body("return x[§-100:]"), ("slice bound -100 is out of range for extent 64",)),
    "offset of a window": (body("return tf.insert_slice(x, x, §('a', 0))"), ("offset 0 must be an int",)),
    "offset that is a condition": (
        body("return tf.insert_slice(x, x[0:2], §(tf.cast(True, 'bool'), 0))"),
        ("offset 0 must be an int", "got a run-time value of type Tensor[(), bool", "a rank-0 integer tensor"),
    ),
    "window of a number": (body("return tf.insert_slice(§3, x, (0, 0))"), ("'dst' must be a tensor",)),
    "negative window": (body("return §tf.insert_slice(x, x, (-1, 0))"), ("offset -1 is negative",)),
}

SCALARS = """\
@func
def f(x: Tensor[(64, 32), "f32"], i: Tensor[(), "i32"], j: Tensor[(), "i32"]) -> Tensor[(2, 32), "f32"]:
    return x[{}]
"""
UNPROVEN = ("cannot prove that the slice has a fixed length", "start:start + K")
REFUSED |= {
    "run-time start without an end": (SCALARS.format("§i:"), UNPROVEN),
    "run-time start and another end": (SCALARS.format("§i:j"), UNPROVEN),
    "run-time start times two": (SCALARS.format("§i * 2:i + 2"), UNPROVEN),
    "product of run-time scalars": (SCALARS.format("§i:i * j"), UNPROVEN),
    "run-time end before the start": (SCALARS.format("§i + 2:i"), ("ends before it starts",)),
    "run-time index": (SCALARS.format("§i"), ("a run-time value of type", "x[i:i + 1]")),
    "condition as a bound": (SCALARS.format("§tf.cmp_gt(i, j):3"), ("got a run-time value of type Tensor[(), bool",)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_place_and_words(name: str) -> None:
    check_refusal(*REFUSED[name])
