"""What the front end of kernels refuses of headers, calls and arguments; see `refusals_test`."""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import VerifyError, WrongTypeError, WrongValueError
from tilefoundry.python.testing import check_refusal


def kernel(*lines: str, head: str = "") -> str:
    """A program of one kernel with these body lines; `head` stands before it."""
    signature = '@prim_func\ndef k(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):'
    return "\n".join([*([head] if head else []), signature, *(f"    {line}" for line in lines)])


INTRINSIC = "@intrinsic\ndef clear(a):\n    T.fill(a, 0.0)"
DEV = '@prim_func\ndef dev(a: Tensor[(4, 32), "f32"], o: Tensor[(4, 32), "f32"]):\n    T.copy(a, o)'
COUNTER = ('n = T.alloc_tensor(Tensor[(), "i32", "rmem"])', "T.fill(n, 0)")

# name: (program, words)
REFUSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "one operand of ceildiv": (kernel("x = §ceildiv(3)"), ("ceildiv takes two positional arguments", "ceildiv(a, b)")),
    "three operands of ceildiv": (
        kernel(*COUNTER, "x = §ceildiv(n, 2, 3)"),
        ("ceildiv takes two arguments, got 3", "ceildiv(a, b)"),
    ),
    "a number as the case of a dispatch": (
        kernel('T.dispatch("f", N, §(3, dev), args=(a, o), otherwise="none")', head=DEV),
        ("expected a DimVarRangePat, got 3", "T.dispatch("),
    ),
    "extents of a launch": (
        kernel("launch(dev, a, o, grid=§('a', 1, 1), block=(1, 1, 1))", head=DEV),
        ("expected extents", "grid"),
    ),
    "arguments of an intrinsic": (kernel("§clear(a, o)", head=INTRINSIC), ("'clear' takes 1 positional",)),
    "keyword of an intrinsic": (kernel("clear(a, b=§o)", head=INTRINSIC), ("no further parameter 'b'",)),
    "two loop variables": (kernel("for §i, j in range(4):", "    pass"), ("one name as loop variable",)),
    "keyword of a range": (kernel("for i in range(stop=§4):", "    pass"), ("no keyword arguments",)),
    "empty range": (kernel("for i in §range():", "    pass"), ("1 to 3 arguments, got 0",)),
    "starred range": (kernel("for i in range(§*(1, 2)):", "    pass"), ("'*' in a call",)),
    "scope without a name": (
        kernel('with Mesh((Topology("thread", 32),), (32,)) as §m[0]:', "    pass"),
        ("expected a name after 'as'",),
    ),
    "else of a while": (
        kernel(*COUNTER, "while n < 4:", "    T.binary(n, 1, n, kind=BinaryKind.ADD)", "else:", "    §T.fill(n, 0)"),
        ("'else' of a 'while'",),
    ),
    "assignment to an attribute": (kernel("§a.b = 3"), ("a name on the left side",)),
    "choice by numbers": (
        kernel("§T.where(1.0, a, a, o)"),
        ("'condition' must be bool", "T.binary(a, b, mask"),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_place_and_words(name: str) -> None:
    text, words = REFUSED[name]
    check_refusal(text, words, VerifyError)


def test_a_kernel_of_a_class_is_not_called_in_its_body() -> None:
    text = 'class A:\n    @prim_func\n    §def k(a: Tensor[(8,), "f32"]): pass\n    k(1)'
    check_refusal(text, ("belongs to a class that is not a module yet", "@module"), WrongTypeError)


# name: (program, kind that the surface names, words)
OTHER: dict[str, tuple[str, type[Exception], tuple[str, ...]]] = {
    "prim_func on a class": ("@§prim_func()\nclass A: pass", WrongTypeError, ("with 'def'",)),
    "target": ("@§prim_func(target='cuda')\ndef k(): pass", WrongTypeError, ("target must be a Target",)),
    "output count": ("@§prim_func(output_count='1')\ndef k(): pass", WrongTypeError, ("output_count must be an int",)),
    "inplace": ("@§prim_func(inplace='o')\ndef k(): pass", WrongTypeError, ("inplace must map",)),
    "unknown argument": ("@§prim_func(topologies=())\ndef k(): pass", WrongTypeError, ("'topologies'", "@module")),
    "variadic intrinsic": ("@intrinsic\ndef f(*§x): pass", WrongTypeError, ("variadic",)),
    "default of an intrinsic": ("@intrinsic\ndef f(x=§1): pass", WrongTypeError, ("default value",)),
    "two members of a name": (
        "@module()\nclass A:\n    @prim_func\n    def k(a: Tensor[(8,), 'f32']): pass\n"
        "    @prim_func\n    §def k(a: Tensor[(8,), 'f32']): pass",
        WrongValueError,
        ("member 'k' already",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER)
def test_refused_with_kind_place_and_words(name: str) -> None:
    text, kind, words = OTHER[name]
    check_refusal(text, words, kind)
