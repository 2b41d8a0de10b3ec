"""Functions outside of a class: variants and converters until the first use."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import pytest

from tilefoundry.diagnostics import VerifyError, WrongTypeError
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.python.testing import check_refusal, load_program

D = 'D = DimVar("D", 1, 9)\n'
LOW, HIGH = 'DimVarRangePat("D", 1, 5)', 'DimVarRangePat("D", 5, 9)'
SIGNATURE = "(x: Tensor[(D,), 'f32']) -> Tensor[(D,), 'f32']:"
RAW = "(raw: Tensor[(8,), 'f32']) -> Tensor[(8,), 'f32']:"
PROTOTYPE = f"{D}@func\ndef f{SIGNATURE}\n    pass\n"
LOWER = f"@f.specialize({LOW})\ndef small{SIGNATURE}\n    return x * x\n"
UPPER = f"@f.specialize({HIGH})\ndef big{SIGNATURE}\n    return x + x\n"
WEIGHTED = """\
@func
def f(x: Tensor[(8,), "f32"], w: ConstTensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
    return x * w
"""
CONVERTER = f'@f.converter("w")\ndef _{RAW}\n    return raw * 2.0\n'
MEMBER = '@module(entry="f")\nclass Program:\n    f = f\n'


def function(text: str, name: str = "f") -> Function:
    """A function of a program."""
    found = load_program(text)[name]
    assert isinstance(found, Function)
    return found


def test_a_prototype_takes_its_variants_after_its_definition() -> None:
    scope = load_program(PROTOTYPE + LOWER + UPPER + MEMBER)
    f, module, small = scope["f"], scope["Program"], scope["small"]
    assert isinstance(f, Function)
    assert isinstance(module, Module)
    assert isinstance(small, Function)
    assert [v.specializations for v in f.variants] == [(DimVarRangePat("D", 1, 5),), (DimVarRangePat("D", 5, 9),)]
    assert small is f.variants[0]
    assert module.functions == (f,)
    assert module.owns(f)


def test_a_function_takes_a_converter_after_its_definition() -> None:
    f = function(WEIGHTED + CONVERTER)
    ((weight, made),) = f.converters
    assert (weight, made.name) == ("w", "_")


def test_a_draft_is_equal_to_the_function_that_it_is() -> None:
    f = function(PROTOTYPE + LOWER + UPPER)
    plain = Function(**{field.name: getattr(f, field.name) for field in dataclasses.fields(Function)})
    assert type(plain) is Function
    assert f == plain
    assert plain == f
    assert hash(f) == hash(plain)
    assert f != dataclasses.replace(f, name="g")
    assert f != "f"
    with pytest.raises(dataclasses.FrozenInstanceError):
        f.name = "g"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        f.other = 3  # type: ignore[attr-defined]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del f.name
    for same in (copy.copy(f), dataclasses.replace(f)):
        assert same == plain
        assert len(same.variants) == 2
    identity = function("@func\ndef f(x: Tensor[(8,), 'f32']) -> Tensor[(8,), 'f32']:\n    return x * 2.0\n")
    copied = pickle.loads(pickle.dumps(identity))
    assert type(copied) is Function
    assert copied.name == "f"


def test_a_call_by_another_function_selects_the_variant() -> None:
    text = """\
@func
def g(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
    return f(x)
"""
    g = function(PROTOTYPE + LOWER + UPPER + text, "g")
    assert g.body is not None
    assert g.body.type == g.return_type


def test_a_prototype_without_variants_is_refused_by_its_first_use() -> None:
    f = function(PROTOTYPE)
    with pytest.raises(VerifyError, match=r"has the body 'pass'(.|\n)*@f.specialize") as caught:
        Module("m", (f,), "f")
    assert caught.value.span is not None
    assert caught.value.span.line == 3


# name: (program, kind, words)
REFUSED: dict[str, tuple[str, type[Exception], tuple[str, ...]]] = {
    "variant of a function with a body": (
        WEIGHTED + f"@§f.specialize({LOW})\ndef small{SIGNATURE}\n    return x\n",
        TypeError,
        ("'f' has a body of its own", "make its body 'pass'"),
    ),
    "variant called _": (
        PROTOTYPE + LOWER.replace("def small", "§def _"),
        ValueError,
        ("cannot be called '_'",),
    ),
    "variant called as its function": (
        PROTOTYPE + LOWER.replace("def small", "§def f"),
        ValueError,
        ("cannot have its name",),
    ),
    "two variants of one name": (
        PROTOTYPE + LOWER + UPPER.replace("def big", "§def small"),
        ValueError,
        ("'f' has a variant 'small' already",),
    ),
    "variant without a body": (
        PROTOTYPE + LOWER.replace("return x * x", "§pass"),
        VerifyError,
        ("variant 'small' has the body 'pass'",),
    ),
    "variants with a gap": (
        PROTOTYPE.replace("def f", "§def f") + LOWER + MEMBER,
        VerifyError,
        ("cover [1,5) but the envelope is [1,9)",),
    ),
    "a call before the variants": (
        PROTOTYPE.replace("def f", "§def f")
        + 'DONE = None\n@func\ndef g(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:\n    return f(x)\n',
        VerifyError,
        ("has the body 'pass'", "no variants", "before it is used"),
    ),
    "variant after a use": (
        PROTOTYPE + LOWER + UPPER + MEMBER + LOWER.replace("def small", "§def more"),
        TypeError,
        ("'f' is sealed", "before the function is used"),
    ),
    "converter after a use": (
        WEIGHTED + 'Module = module(entry="f")(type("P", (), {"f": f}))\n' + CONVERTER.replace("def _", "§def _"),
        TypeError,
        ("'f' is sealed",),
    ),
    "converter of no weight": (
        WEIGHTED + CONVERTER.replace('"w"', '"x"').replace("def _", "§def _"),
        TypeError,
        ("'f' has no weight of this name", "its weights: w"),
    ),
    "two converters": (
        WEIGHTED + CONVERTER + CONVERTER.replace("def _", "§def _v"),
        ValueError,
        ("weight 'w' of 'f' has a converter already",),
    ),
    "converter with the body pass": (
        WEIGHTED + CONVERTER.replace("return raw * 2.0", "§pass"),
        VerifyError,
        ("converter '_' has the body 'pass'",),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_kind_place_and_words(name: str) -> None:
    text, kind, words = REFUSED[name]
    check_refusal(text, words, kind)


def test_a_call_outside_of_a_program_says_what_runs_it() -> None:
    f = load_program("@func\ndef f(x: Tensor[(2,), 'f32']) -> Tensor[(2,), 'f32']:\n    return x")["f"]
    with pytest.raises(WrongTypeError, match="'f' is a function of the language") as caught:
        f([1.0, 2.0])  # type: ignore[operator]
    assert "tilefoundry.evaluate(f, ...)" in str(caught.value)
