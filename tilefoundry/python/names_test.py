"""Names mean what they mean to Python: cells, classes, globals, builtins, and what comes later."""

from __future__ import annotations

import pytest

from tilefoundry.diagnostics import VerifyError
from tilefoundry.ir.core.expr import Call, Constant
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.ir.types import TensorType
from tilefoundry.python.testing import check_refusal, load_program

F = 'def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:'


def factor(value: object) -> object:
    """The number that a function (or the entry of a module) multiplies by."""
    function = value.entry_function() if isinstance(value, Module) else value
    assert isinstance(function, Function)
    assert isinstance(function.body, Call)
    literal = function.body.args[1]
    assert isinstance(literal, Constant)
    return literal.value


def extent(value: object) -> object:
    """The extent of the first parameter of a function, or of a module's entry."""
    function = value.entry_function() if isinstance(value, Module) else value
    assert isinstance(function, Function)
    type_ = function.params[0].type
    assert isinstance(type_, TensorType)
    return type_.shape[0]


def program(*lines: str) -> dict[str, object]:
    """What a program defines; a line ``@f NAME`` is a function that multiplies by NAME."""
    text = []
    for line in lines:
        bare = line.lstrip()
        if bare.startswith("@f "):
            lead = line[: len(line) - len(bare)]
            text += [f"{lead}@func", f"{lead}{F}", f"{lead}    return x * {bare.removeprefix('@f ')}"]
        else:
            text.append(line)
    return load_program("\n".join(text) + "\n")


def test_a_cell_is_read_when_the_function_is_decorated() -> None:
    scope = program(
        "def make():",
        "    scale = 2.0",
        "    def set_scale(value):",
        "        nonlocal scale",
        "        scale = value",
        "    set_scale(5.0)",
        "    @f scale",
        "    set_scale(7.0)",
        "    return f",
        "f = make()",
    )
    assert factor(scope["f"]) == 5.0


def test_each_turn_of_a_loop_has_the_value_of_its_turn() -> None:
    scope = program("made = []", "for k in range(3):", "    @f float(k)", "    made.append(f)")
    made = scope["made"]
    assert isinstance(made, list)
    assert [factor(f) for f in made] == [0.0, 1.0, 2.0]


def test_a_comprehension_has_a_scope_of_its_own() -> None:
    scope = program(
        "k = 9.0", "def make(scale):", "    @f scale", "    return f", "made = [make(k) for k in (1.0, 2.0)]", "@f k"
    )
    made = scope["made"]
    assert isinstance(made, list)
    assert [factor(f) for f in made] == [1.0, 2.0]
    assert factor(scope["f"]) == 9.0


def test_the_name_of_a_comprehension_is_not_seen_outside() -> None:
    check_refusal(
        f"made = [0 for scale in range(3)]\n@func\n{F}\n    return x * §scale", ("name 'scale' is not defined",)
    )


def test_a_function_does_not_see_the_class_around_its_own() -> None:
    scope = program(
        "scale = 9.0",
        "class Outer:",
        "    scale = 2.0",
        "    def make():",
        "        @f scale",
        "        return f",
        "f = Outer.make()",
    )
    assert factor(scope["f"]) == 9.0


def test_a_global_hides_a_builtin() -> None:
    assert factor(program("max = 3.0", "@f max")["f"]) == 3.0


def test_a_builtin_is_seen() -> None:
    assert factor(program("@f float(max(2, 3))")["f"]) == 3.0


@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
def test_an_annotation_in_a_nested_class_does_not_see_the_outer_class(future: str) -> None:
    signature = 'def f(x: Tensor[(n,), "f32"]) -> Tensor[(n,), "f32"]:'
    scope = program(
        future,
        "n = 9",
        "class Outer:",
        "    n = 2",
        '    @module(entry="f")',
        "    class Inner:",
        "        @func",
        f"        {signature}",
        "            return x",
        "inner = Outer.Inner",
    )
    assert extent(scope["inner"]) == 9


@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
def test_an_annotation_may_use_a_name_that_a_function_of_the_class_has(future: str) -> None:
    scope = program(
        future,
        '@module(entry="M")',
        "class Program:",
        "    @func",
        '    def M(x: Tensor[(M,), "f32"]) -> Tensor[(M,), "f32"]:',
        "        return x",
    )
    assert str(extent(scope["Program"])) == "M"


@pytest.mark.parametrize("future", ["", "from __future__ import annotations"])
def test_the_annotation_of_a_local_name_sees_the_names_around(future: str) -> None:
    scope = program(
        future,
        "layout = 3",
        "def make(layout):",
        "    @func",
        f"    {F}",
        '        y: where(layout=layout, storage="gmem") = x * 2.0',
        "        return y",
        "    return f",
        "f = make((8,))",
    )
    assert factor(scope["f"]) == 2.0


def test_private_names_are_those_of_the_class() -> None:
    scope = program(
        "_Program__scale = 2.0",
        '@module(entry="f")',
        "class _Program:",
        "    @func",
        '    def __double(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:',
        "        __twice = x + x",
        "        return __twice",
        "    @func",
        f"    {F}",
        "        return __double(x) * __scale",
    )
    assert factor(scope["_Program"]) == 2.0


def test_functions_of_a_class_call_each_other_in_any_order() -> None:
    scope = program(
        '@module(entry="f")',
        "class Program:",
        "    @func",
        f"    {F}",
        "        return g(x)",
        "    @func",
        '    def g(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:',
        "        return h(x)",
        "    @func",
        '    def h(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:',
        "        return x * 2.0",
    )
    module = scope["Program"]
    assert isinstance(module, Module)
    assert [f.name for f in module.functions] == ["f", "g", "h"]


# name: (program, words)
REFUSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "an empty cell": (
        f"def make():\n    @func\n    {F}\n        return x * §scale\n    scale = 3.0\nmake()",
        ("captured name 'scale' has no value yet", "before the decorated function"),
    ),
    "a deleted cell": (
        f"def make():\n    scale = 3.0\n    del scale\n    @func\n    {F}\n        return x * §scale\nmake()",
        ("captured name 'scale' has no value yet",),
    ),
    "a deleted global": (
        f"scale = 3.0\ndel scale\n@func\n{F}\n    return x * §scale",
        ("name 'scale' is not defined",),
    ),
    "a global that comes later": (
        f"@func\n{F}\n    return x * §scale\nscale = 3.0",
        ("name 'scale' is not defined", "define or import it"),
    ),
    "a function that comes later": (
        f"@func\n{F}\n    return §helper(x)\ndef helper(x): return x",
        ("'helper' has no value yet", "at line 4"),
    ),
    "a class around": (
        f"class Outer:\n    scale = 2.0\n    def make():\n        @func\n        {F}\n            return x * §scale\n"
        "Outer.make()",
        ("name 'scale' is not defined",),
    ),
    "a local of the same name": (
        f"scale = 2.0\n@func\n{F}\n    scale = x * §scale\n    return scale",
        ("local name 'scale' is read before it is assigned",),
    ),
    "a function that hides a DimVar": (
        '@module(entry="M")\nclass Program:\n    @func\n'
        '    def M(x: Tensor[(M,), "f32"]) -> Tensor[(M,), "f32"]:\n        return tf.reshape(x, (§M,))',
        ("'M' is the function 'M' of this class here, which hides the extent M", "another name"),
    ),
    "a function that hides a DimVar in an annotation": (
        '@module(entry="f")\nclass Program:\n    @func\n'
        '    def M(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:\n        return x\n'
        '    @func\n    def f(x: §Tensor[(M,), "f32"]) -> Tensor[(M,), "f32"]:\n        return x',
        ("got the function 'M' of this class", "hides"),
    ),
    "a near miss": (f"scale = 2.0\n@func\n{F}\n    return x * §scal", ("'scal' is not defined", "'scale'")),
    "a private attribute": (f"@func\n{F}\n    return x * math.§pi".replace("math.§pi", "§math._pi"), ("private",)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_place_and_words(name: str) -> None:
    check_refusal(*REFUSED[name])


def test_a_text_given_to_exec_is_no_class_body() -> None:
    scope: dict[str, object] = {}
    exec("from tilefoundry.python import func\nfrom tilefoundry.dsl import Tensor", scope)
    with pytest.raises(VerifyError, match="source of 'f' is not available") as caught:
        exec(f"@func\n{F}\n    return x", scope, {})
    span = caught.value.span
    assert span is not None
    assert (span.file, span.line, span.column) == ("<string>", 1, 1)
    assert "help: put the function in a .py file" in str(caught.value)
