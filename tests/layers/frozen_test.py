"""No frozen object is mutated, and what the IR and the targets are made of is frozen."""

from pathlib import Path

import pytest

import tilefoundry
from tests.layers.frozen import mutations, unfrozen

_ROOT = Path(tilefoundry.__file__).parents[1]


def test_nothing_writes_to_a_frozen_object() -> None:
    found = mutations(_ROOT)
    assert not found, "frozen objects are written outside of a constructor:\n" + "\n".join(found)


def test_values_are_frozen() -> None:
    found = unfrozen(_ROOT)
    assert not found, "values that can change:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("class A:\n    def __post_init__(self): object.__setattr__(self, 'x', 1)\n", 0),
        ("class A:\n    def set(self): object.__setattr__(self, 'x', 1)\n", 1),
        ("def f(a): object.__setattr__(a, 'x', 1)\n", 1),
        ("def f(a): object.__delattr__(a, 'x')\n", 1),
        ("class A:\n    def set(self): super().__setattr__('x', 1)\n", 1),
        ("def init_expr(e): object.__setattr__(e, 'x', 1)\n", 0),
        ("class A:\n    def __init__(self): init_expr(self)\n", 0),
        ("def f(e): init_expr(e)\n", 1),
        ("def f(e): e.__dict__['x'] = 1\n", 1),
        ("def f(e): e.__dict__.update(x=1)\n", 1),
        ("class A:\n    def __init__(self):\n        def f(): object.__setattr__(self, 'x', 1)\n", 1),
        ("object.__setattr__(1, 'x', 2)\n", 1),
    ],
)
def test_a_planted_mutation_is_found(tmp_path: Path, text: str, count: int) -> None:
    (tmp_path / "tilefoundry").mkdir()
    (tmp_path / "tilefoundry/a.py").write_text(text)
    assert len(mutations(tmp_path)) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("@dataclass(frozen=True)\nclass A:\n    x: int\n", 0),
        ("@dataclasses.dataclass(frozen=True)\nclass A:\n    x: tuple[int, ...]\n", 0),
        ("@dataclass\nclass A:\n    x: int\n", 1),
        ("@dataclass(frozen=False)\nclass A:\n    x: int\n", 1),
        ("@dataclass(frozen=True)\nclass A:\n    x: list[int]\n    y: dict[str, int]\n", 2),
        ("class A:\n    x: list[int]\n", 0),
    ],
)
def test_a_planted_value_that_can_change_is_found(tmp_path: Path, text: str, count: int) -> None:
    (tmp_path / "tilefoundry/ir").mkdir(parents=True)
    (tmp_path / "tilefoundry/ir/a.py").write_text(text)
    assert len(unfrozen(tmp_path, ("tilefoundry/ir",))) == count
