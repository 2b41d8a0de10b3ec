"""What is said of the functions of a class that lacks ``@module``, wherever a function is expected."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tilefoundry as tile
from tests.text.programs import PRELUDE
from tests.text.reading import execute
from tilefoundry.diagnostics import TileFoundryError

SOURCE = """\
class A:
    @func
    def f(x: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return x + x

    @f.converter("x")
    def made(raw: Tensor[(8,), "f32"]) -> Tensor[(8,), "f32"]:
        return raw

    @prim_func
    def k(a: Tensor[(8,), "f32"]):
        pass
"""


@pytest.mark.parametrize("member", ["f", "made", "k"])
@pytest.mark.parametrize(
    "use",
    [
        tile.evaluate,
        tile.as_script,
        tile.lower,
        tile.compile,
        tile.normalize_to_module,
        tile.jit,
        lambda f: f(1),
        lambda f: f.params,
        lambda f: f.specialise,
        lambda f: f.body,
    ],
)
def test_the_class_is_to_be_decorated(use: Callable[[object], object], member: str) -> None:
    held = getattr(execute(PRELUDE + SOURCE)["A"], member)
    with pytest.raises(TileFoundryError, match=f"'A.{member}' belongs to a class that is not a module yet") as caught:
        use(held)
    assert "decorate the class with @module" in str(caught.value)
    assert caught.value.span is not None


@pytest.mark.parametrize("member", ["f", "made", "k"])
def test_what_stands_there_says_what_it_is(member: str) -> None:
    held = getattr(execute(PRELUDE + SOURCE)["A"], member)
    assert repr(held) == f"<'A.{member}' belongs to a class that is not a module yet>"
    assert not hasattr(held, "params") and not hasattr(held, "__wrapped__")
