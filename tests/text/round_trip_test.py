"""Printing and reading are inverse: on the programs that we have, and on programs made to be hard."""

from __future__ import annotations

import pytest

from examples.attention.program import attention_module
from tests.compiler import programs as compiled
from tests.text.programs import PRELUDE, PROGRAMS
from tests.text.reading import assert_round_trip, execute, read_back
from tilefoundry import as_script
from tilefoundry.ir import Function, Module, select, specialize_module, structurally_equal
from tilefoundry.ir.text import ScriptOptions, canonical_module_text

_MADE = {name: value for name, value in vars(compiled).items() if isinstance(value, Module)} | {
    "row_softmax": compiled.row_softmax(128, "f16"),
    "matmul": compiled.matmul(64, "bf16"),
    "swap": compiled.swap(3),
    "row_sums": compiled.row_sums(4),
}


def made_by(name: str) -> dict[str, Function | Module]:
    """The functions and modules of one of the hard programs."""
    scope = execute(PRELUDE + PROGRAMS[name])
    return {k: v for k, v in scope.items() if isinstance(v, (Function, Module))}


@pytest.mark.parametrize("name", sorted(_MADE))
def test_programs_of_the_compiler_tests(name: str) -> None:
    assert_round_trip(_MADE[name])


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("head_dim", [32, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_the_attention_example(head_dim: int, dtype: str, causal: bool) -> None:
    assert_round_trip(attention_module(head_dim, dtype, causal))


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_hard_programs(name: str) -> None:
    made = made_by(name)
    assert made
    for program in made.values():
        assert_round_trip(program)


def test_a_script_has_the_key_of_its_program() -> None:
    for module in (attention_module(64), made_by("ex3")["Block"]):
        assert isinstance(module, Module)
        again = read_back(as_script(module))
        assert isinstance(again, Module)
        assert canonical_module_text(again) == canonical_module_text(module)


def test_a_child_is_printed_in_the_context_of_its_owner() -> None:
    root = made_by("topologies of children")["Root"]
    assert isinstance(root, Module)
    for name in ("a", "c"):
        child = root.child_named(name)
        assert child is not None
        assert_round_trip(child)


def test_a_function_with_its_module() -> None:
    block = made_by("ex3")["Block"]
    assert isinstance(block, Module)
    function = block.lookup("block")
    assert isinstance(function, Function)
    again = read_back(as_script(function, block))
    assert isinstance(again, Module)
    assert structurally_equal(again.lookup("block"), function)
    assert [m.name for m in again.modules] == ["proj", "0", "a.b"], "children that it does not call are left out"
    assert again.entry == "block" and again.target == block.target and not again.methods


def test_a_function_with_variants_is_printed_as_a_module() -> None:
    module = made_by("ex4")["Disp"]
    assert isinstance(module, Module)
    function = module.lookup("f")
    assert isinstance(function, Function)
    again = read_back(as_script(function))
    assert isinstance(again, Module)
    assert structurally_equal(again, Module("f", (function,), "f"))


def test_comments_say_the_types() -> None:
    program = made_by("constraint")["f"]
    plain, commented = as_script(program), as_script(program, options=ScriptOptions(types=True))
    assert commented.count("  # Tensor[(8,64), f32") == 2
    assert "#" not in plain and structurally_equal(read_back(commented), program)


def test_specialised_programs() -> None:
    module = made_by("ex4")["Disp"]
    assert isinstance(module, Module)
    assert_round_trip(specialize_module(module, {"N": 3}))
    assert_round_trip(select(module, "f"))


def test_a_name_that_python_cannot_bind() -> None:
    module = made_by("ex4")["Disp"].renamed("my-model")  # type: ignore[union-attr]
    assert assert_round_trip(module).splitlines()[-1] == 'program = Program.renamed("my-model")'
    assert_round_trip(module.renamed("class"))
