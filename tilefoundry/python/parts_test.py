"""Variants and converters: the parts of a function in the body of a class."""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.metadata import BindingMetadata, find_metadata, span_of
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.core.pattern import DimVarRangePat
from tilefoundry.ir.traverse import post_order
from tilefoundry.python.testing import check_refusal, load_program, marked


def members(*lines: str) -> str:
    """A program of one module with these class body lines."""
    return "\n".join(['@module(entry="f")', "class Program:", *(f"    {line}" for line in lines)])


def variants(*ranges: str, axis: str = "D", prototype: str = "pass") -> str:
    """A program of a prototype with variants; each range is (mark and) name, pattern."""
    signature = f"(x: Tensor[({axis},), 'f32']) -> Tensor[({axis},), 'f32']:"
    lines = ["@func", f"def f{signature}", f"    {prototype}"]
    for k, pattern in enumerate(ranges):
        mark = "§" if pattern.startswith("§") else ""
        lines += [f"@f.specialize({pattern.lstrip('§')})", f"{mark}def v{k}{signature}", "    return x"]
    return 'D = DimVar("D", 1, 9)\n' + members(*lines)


def converter(*lines: str, weight: str = "w", const: str = "ConstTensor") -> str:
    """A program of a function with one weight, whose converter has these lines."""
    head = (
        "@func",
        f"def f(x: Tensor[(8,), 'f32'], w: {const}[(8,), 'f32']) -> Tensor[(8,), 'f32']:",
        "    return x * w",
    )
    return members(*head, f'@f.converter("{weight}")', *lines)


VECTOR = "(x: Tensor[(D,), 'f32']) -> Tensor[(D,), 'f32']:"
RAW = "(raw: Tensor[(8,), 'f32']) -> Tensor[(8,), 'f32']:"
LOW, HIGH = 'DimVarRangePat("D", 1, 5)', 'DimVarRangePat("D", 5, 9)'

# of variants and converters; name: (program, kind that the surface names, words)
PARTS: dict[str, tuple[str, type[Exception], tuple[str, ...]]] = {
    "prototype without variants": (
        members("@func", f"def f{RAW}", "    §pass"),
        VerifyError,
        ("has the body 'pass'", "no variants", "@f.specialize"),
    ),
    "prototype with a body": (
        variants(LOW, HIGH, prototype="§return x"),
        VerifyError,
        ("'f' has variants and a body of its own", "'pass'"),
    ),
    "variant without a body": (
        variants(LOW, HIGH).replace("    return x", "    §pass", 1),
        VerifyError,
        ("variant 'v0' has the body 'pass'",),
    ),
    "gap": (
        variants('DimVarRangePat("D", 1, 4)', "§" + HIGH),
        VerifyError,
        ("gap or overlap at 4", "cover every extent"),
    ),
    "overlap": (
        variants('DimVarRangePat("D", 1, 6)', "§" + HIGH),
        VerifyError,
        ("gap or overlap at 5", "each once"),
    ),
    "a variant of a function that is deleted": (
        variants("§" + LOW, HIGH) + "\n    del f\n    @func\n    def g" + VECTOR + "\n        return x",
        ValueError,
        ("'v0' belongs to a function 'f' that is no member", "in one class body"),
    ),
    "the same range twice": (variants(LOW, "§" + LOW, HIGH), VerifyError, ("gap or overlap at 1",)),
    "envelope not covered": (
        variants(LOW, 'DimVarRangePat("D", 5, 8)').replace("def f(", "§def f("),
        VerifyError,
        ("cover [1,8) but the envelope is [1,9)",),
    ),
    "range not contained": (
        variants(LOW, '§DimVarRangePat("D", 5, 10)'),
        VerifyError,
        ("[5, 10) of 'D' is not contained in its envelope [1, 9)",),
    ),
    "unknown DimVar": (
        variants('§DimVarRangePat("E", 1, 5)'),
        VerifyError,
        ("unknown DimVar 'E'", "axis of a parameter: D"),
    ),
    "unknown DimVar of a static prototype": (
        variants("§" + LOW, axis="8"),
        VerifyError,
        ("unknown DimVar 'D'", "there is none"),
    ),
    "several DimVars": (
        variants(LOW, 'DimVarRangePat("E", 5, 9)').replace("def f(", "§def f("),
        VerifyError,
        ("several DimVars: D, E",),
    ),
    "inconsistent bounds": (
        variants(LOW, "§" + HIGH)
        .replace(
            "def v1(x: Tensor[(D,), 'f32']) -> Tensor[(D,), 'f32']",
            "def v1(x: Tensor[(DD,), 'f32']) -> Tensor[(DD,), 'f32']",
        )
        .replace("@module", 'DD = DimVar("D", 1, 8)\n@module'),
        VerifyError,
        ("inconsistent bounds of 'D': [1, 9) in the prototype, [1, 8) in a variant",),
    ),
    "another signature": (
        variants(LOW, "§" + HIGH).replace(f"def v1{VECTOR}", f"def v1{VECTOR}".replace("f32", "bf16")),
        VerifyError,
        (
            "a variant of 'f' has the signature (x: Tensor[(D,), bf16, gmem])",
            "the prototype (x: Tensor[(D,), f32, gmem])",
        ),
    ),
    "variant called _": (variants("§" + LOW).replace("def v0", "def _"), ValueError, ("cannot be called '_'",)),
    "variant called as its function": (
        variants("§" + LOW).replace("def v0", "def f"),
        ValueError,
        ("cannot have its name",),
    ),
    "two variants of one name": (
        variants(LOW, "§" + HIGH).replace("def v1", "def v0"),
        ValueError,
        ("'f' has a variant 'v0' already",),
    ),
    "variant in place of a member": (
        members("@func", f"def f{RAW}", "    return x", "@func", f"§def f{RAW}", "    return x"),
        ValueError,
        ("has a member 'f' already",),
    ),
    "converter of no weight": (
        converter(f"§def _w{RAW}", "    return raw", weight="v"),
        TypeError,
        ("'f' has no weight of this name", "its weights: w"),
    ),
    "converter of an activation": (
        converter(f"§def _w{RAW}", "    return raw", const="Tensor"),
        TypeError,
        ("it declares no ConstTensor parameter",),
    ),
    "converter without a body": (
        converter(f"def _w{RAW}", "    §pass"),
        VerifyError,
        ("converter '_w' has the body 'pass'", "raw tensors"),
    ),
    "converter of another shape": (
        converter("§def _w(raw: Tensor[(8,), 'f32']) -> Tensor[(1, 8), 'f32']:", "    return tf.reshape(raw, (1, 8))"),
        VerifyError,
        ("converter of weight 'w' returns", "[(1,8), f32, gmem]", "exactly the declared shape and dtype"),
    ),
    "converter of another dtype": (
        converter("§def _w(raw: Tensor[(8,), 'f32']) -> Tensor[(8,), 'bf16']:", "    return tf.cast(raw, 'bf16')"),
        VerifyError,
        ("converter of weight 'w' returns", "bf16"),
    ),
    "two converters": (
        converter(f"def _w{RAW}", "    return raw", '@f.converter("w")', f"§def _v{RAW}", "    return raw"),
        ValueError,
        ("weight 'w' of 'f' has a converter already",),
    ),
    "converter after sealing": (
        "KNOWN = []\n"
        + converter(f"def _w{RAW}", "    return raw", "KNOWN.append(f)")
        + f'\n@KNOWN[0].converter("w")\n§def _v{RAW}\n    return raw',
        TypeError,
        ("'f' is sealed", "class body"),
    ),
    "pattern": (
        variants("(1, 5)").replace("@f.specialize", "@§f.specialize"),
        TypeError,
        ("expected a DimVarRangePat, got a tuple of 2", 'DimVarRangePat("S", 1, 5)'),
    ),
    "specialize without a call": (
        members("@func", f"def f{RAW}", "    pass", "@§f.specialize", f"def g{RAW}", "    return raw"),
        TypeError,
        ("expected a DimVarRangePat, got the Python function 'g'",),
    ),
    "variant of a class": (
        'D = DimVar("D", 1, 9)\n'
        + members("@func", f"def f{RAW}", "    pass", f"@§f.specialize({LOW})", "class V: pass"),
        TypeError,
        ("@f.specialize: expected a function defined with 'def', got the class 'V'",),
    ),
    "weight's name": (
        converter(f"def _w{RAW}", "    return raw").replace('@f.converter("w")', "@§f.converter(8)"),
        TypeError,
        ("name of a ConstTensor parameter, got 8", '@fn.converter("w")'),
    ),
    "variant of no member": (
        variants(LOW, "§" + HIGH).replace("def v1", "def f") + "\n    f = 3",
        ValueError,
        ("cannot have its name",),
    ),
}


@pytest.mark.parametrize("extent", ["D", 'DimVar("K", 4, 6)', 'DimVar("K", 1, 5) * 2'])
def test_a_call_that_several_variants_may_serve_stays_a_call(extent: str) -> None:
    module = program(marked(calling(extent))[0])
    f = module.entry_function()
    assert isinstance(f, Function) and isinstance(f.body, Call)
    assert f.body.target is module.lookup("p")
    assert span_of(f.body.metadata) is not None and f.body.type == f.return_type


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_refused_with_kind_place_and_words(name: str) -> None:
    text, kind, words = PARTS[name]
    check_refusal(text, words, kind)


def program(text: str) -> Module:
    """The module of a program."""
    found = load_program(text)["Program"]
    assert isinstance(found, Module)
    return found


def entry(text: str) -> Function:
    """The entry of a program."""
    found = program(text).entry_function()
    assert isinstance(found, Function)
    return found


def test_a_prototype_holds_its_variants() -> None:
    module = program(variants(LOW, HIGH))
    f = module.entry_function()
    assert isinstance(f, Function)
    assert [g.name for g in module.functions] == ["f"]
    assert f.is_prototype
    assert [v.name for v in f.variants] == ["f", "f"]
    assert [v.specializations for v in f.variants] == [(DimVarRangePat("D", 1, 5),), (DimVarRangePat("D", 5, 9),)]
    assert [find_metadata(v.metadata, BindingMetadata) for v in f.variants] == [
        BindingMetadata("v0"),
        BindingMetadata("v1"),
    ]
    assert all(module.owns(v) for v in f.variants)


def test_ranges_may_come_in_any_order() -> None:
    assert len(entry(variants(HIGH, LOW)).variants) == 2


def test_a_converter_belongs_to_its_weight() -> None:
    body = "    return tf.reshape(tf.transpose(raw, perm=(1, 0)), (8,))"
    module = program(converter("def _(raw: Tensor[(4, 2), 'f32']) -> Tensor[(8,), 'f32']:", body))
    f = module.entry_function()
    assert isinstance(f, Function)
    ((weight, made),) = f.converters
    assert weight == "w"
    assert [p.name for p in made.params] == ["raw"]
    assert list(module.weights) == ["w"]
    assert made.body is not None
    with pytest.raises(AttributeError):
        _ = module._


def test_parts_may_call_members_of_the_class() -> None:
    text = converter(f"def _w{RAW}", "    return half(raw)", "@func", f"def half{RAW}", "    return raw * 0.5")
    assert len(entry(text).converters) == 1


def calling(extent: str) -> str:
    """A module whose entry calls a prototype for ranges below and from 5, with a vector of this extent."""
    text = (
        variants(LOW, HIGH)
        .replace("def f(", "def p(")
        .replace("@f.", "@p.")
        .replace("    return x", "    return x * 2.0", 1)
    )
    signature = f"(x: Tensor[({extent},), 'f32']) -> Tensor[({extent},), 'f32']:"
    return text + f"\n    @func\n    def f{signature}\n        return §p(x)"


@pytest.mark.parametrize(
    ("extent", "doubled"), [("4", True), ("5", False), ('DimVar("K", 2, 5)', True), ('DimVar("K", 1, 3) * 2', True)]
)
def test_a_call_of_a_prototype_is_a_call_of_the_variant(extent: str, doubled: bool) -> None:
    f = entry(marked(calling(extent))[0])
    assert f.body is not None
    assert (f.body is not f.params[0]) == doubled


@pytest.mark.parametrize(
    ("extent", "words"),
    [
        ("9", "type mismatch"),
        ('DimVar("K", 1, 10)', r"extent K in \[1, 10\) does not fit D in \[1, 9\)"),
        ('DimVar("K", 1, 6) * 2', r"extent K \* 2 in \[2, 11\) does not fit D in \[1, 9\)"),
    ],
)
def test_a_call_must_be_known_to_fit_the_envelope(extent: str, words: str) -> None:
    source, place = marked(calling(extent))
    with pytest.raises(VerifyError, match=words) as caught:
        load_program(source)
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.column) == place


def test_calls_in_a_diamond_cost_one_value_for_each_level() -> None:
    levels = "\n".join(
        f"@func\ndef f{i}(x: A) -> A:\n    y = f{i - 1}(x)\n    return y + f{i - 1}(x) * f{i - 1}(x)"
        for i in range(1, 40)
    )
    program = load_program('A = Tensor[(4,), "f32"]\n@func\ndef f0(x: A) -> A: return x + 1.0\n' + levels)
    last = program["f39"]
    assert isinstance(last, Function) and last.body is not None
    assert len(list(post_order(last.body))) < 200
