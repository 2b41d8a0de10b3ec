"""The base classes of hand-written runtime code."""

import pytest

from tilefoundry.runtime import EntryABI, RuntimeFunction, RuntimeModule


class _Resource:
    def __init__(self, path: str, seen: list[str]) -> None:
        self.path, self.seen = path, seen

    def subtree(self, seg: str) -> "_Resource":
        return _Resource(f"{self.path}/{seg}", self.seen)


class _Leaf(RuntimeModule):
    def load(self, resource: _Resource) -> None:  # type: ignore[override]
        resource.seen.append(resource.path)


def test_a_node_has_a_name_an_entry_and_children() -> None:
    leaf = _Leaf("leaf")
    root = RuntimeModule("root", "run", (leaf,))
    assert (root.name, root.entry, root.modules, root.module) == ("root", "run", (leaf,), None)
    with pytest.raises(AttributeError):
        root.module = None  # type: ignore[misc]


def test_the_base_runs_nothing() -> None:
    with pytest.raises(NotImplementedError, match="'root'"):
        RuntimeModule("root")(1)


def test_a_call_is_forward() -> None:
    class Twice(RuntimeModule):
        def forward(self, *args: object) -> object:
            return args * 2

    assert Twice("t")(1) == (1, 1)


def test_load_reaches_every_child_under_its_name() -> None:
    seen: list[str] = []
    RuntimeModule("root", None, (_Leaf("a"), RuntimeModule("b", None, (_Leaf("c"),)))).load(
        _Resource("", seen)  # type: ignore[arg-type]  # the base class asks for nothing but `subtree`
    )
    assert seen == ["/a", "/b/c"]


def test_a_function_body_is_a_subclass() -> None:
    with pytest.raises(NotImplementedError, match="'f'"):
        RuntimeFunction(EntryABI("f", ()))()
