"""Names, aliases and scopes: statements 46-49 of the runtime contract."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tilefoundry.runtime.resource import Absolute, AliasValue, DictResource, Preprocessed, RuntimeResource

KEYS = ("norm", "layer0.w", "layer0.kv.w", "layer1.w", "layer1.kv.w", "layer1.e.0", "layer1.e.1", "other")
DATA = {key: torch.tensor(float(i)) for i, key in enumerate(KEYS)}


def same(tensor: Tensor, key: str) -> bool:
    return tensor is DATA[key]


def test_46_path_qualified_before_bare_before_identity() -> None:
    alias: dict[str, AliasValue] = {"gamma": "kv.w", "layer1.gamma": "w"}
    root = DictResource(DATA, alias=alias)
    assert same(root.subtree("layer0").load("gamma"), "layer0.kv.w")
    assert same(root.subtree("layer1").load("gamma"), "layer1.w")
    assert same(root.subtree("layer1").load("w"), "layer1.w")
    assert same(DictResource(DATA, prefix="layer1.", alias=alias).load("gamma"), "layer1.w")


def test_46_segments_are_aliased_and_may_be_absent_from_the_checkpoint() -> None:
    root = DictResource(DATA, alias={"first": "layer0", "attention": ""})
    assert same(root.subtree("first").load("w"), "layer0.w")
    assert same(root.subtree("first").subtree("attention").load("w"), "layer0.w")


def test_46_absolute_ignores_the_prefix() -> None:
    layer = DictResource(DATA, alias={"gamma": Absolute("norm")}).subtree("layer0")
    assert same(layer.load("gamma"), "norm")
    assert same(layer.subtree("kv").load("gamma"), "norm")


def test_46_preprocessed_reads_one_tensor() -> None:
    data = {"a.qkv": torch.arange(12.0).reshape(6, 2), "table": torch.ones(3, 1)}
    alias: dict[str, AliasValue] = {
        "k": Preprocessed("qkv", lambda fused: fused[2:4]),
        "rope": Preprocessed(Absolute("table"), lambda x: x.squeeze(1)),
    }
    scope = DictResource(data, alias=alias).subtree("a")
    assert torch.equal(scope.load("k"), data["a.qkv"][2:4])
    assert scope.load("rope").shape == (3,)


def test_46_precision_is_not_preprocessing() -> None:
    scope = DictResource(DATA, alias={"n": Preprocessed("norm", lambda x: x.double())})
    with pytest.raises(TypeError, match=r"stored torch.float32, got torch.float64\n.*weight converter"):
        scope.load("n")


def test_47_preprocessed_takes_one_name() -> None:
    with pytest.raises(TypeError, match="weight converter"):
        Preprocessed(("a", "b"), lambda x: x)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be callable"):
        Preprocessed("a", "not callable")  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [("a", "b"), Absolute("norm"), Preprocessed("norm", lambda x: x)])
def test_47_a_segment_must_be_a_path(value: AliasValue) -> None:
    with pytest.raises(TypeError, match="path, not a tensor"):
        DictResource(DATA, alias={"layer": value}).subtree("layer")


def test_48_groups_are_read_by_load_group_alone() -> None:
    alias: dict[str, AliasValue] = {
        "experts": ("e.1", "e.0"),
        "gone": ("e.0", "e.7"),
        "top": Absolute("norm"),
        "read": Preprocessed("w", lambda x: x),
    }
    layer = DictResource(DATA, alias=alias).subtree("layer1")
    group = layer.load_group("experts")
    assert group is not None
    assert [same(tensor, key) for tensor, key in zip(group, ("layer1.e.1", "layer1.e.0"), strict=True)] == [True, True]
    with pytest.raises(TypeError, match="load_group"):
        layer.load("experts")
    assert [layer.load_group(name) for name in ("w", "top", "read", "unknown")] == [None] * 4
    with pytest.raises(KeyError, match=r"'gone' \(raw key 'layer1.e.7'\)"):
        layer.load_group("gone")


def test_49_missing_names_the_raw_key_and_close_matches() -> None:
    layer = DictResource(DATA, alias={"weight": "kv.v"}).subtree("layer1")
    with pytest.raises(KeyError) as caught:
        layer.load("weight")
    assert str(caught.value) == (
        "no tensor 'weight' (raw key 'layer1.kv.v') in the given tensors; "
        "close matches: 'layer1.kv.w', 'layer0.kv.w', 'layer1.e.1'"
    )


@pytest.mark.parametrize(
    ("alias", "kind", "message"),
    [
        ({"a": ["b"]}, TypeError, "expected a str, a tuple of str, Absolute or Preprocessed"),
        ({"a": ()}, ValueError, "at least one name"),
        ({"a": ("b", 1)}, TypeError, "members of a group"),
        ({1: "b"}, TypeError, "str keys"),
    ],
)
def test_an_alias_table_is_checked_when_it_is_given(alias: object, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        DictResource(DATA, alias=alias)  # type: ignore[arg-type]


def test_a_value_that_is_no_tensor_is_refused() -> None:
    with pytest.raises(TypeError, match="holds a float"):
        DictResource({"a": 1.0}).load("a")  # type: ignore[dict-item]


SEGMENTS = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(SEGMENTS, max_size=2)
TARGETS = st.sampled_from(["a", "b", "x", "x.y"])
VALUES: st.SearchStrategy[AliasValue] = st.one_of(TARGETS, TARGETS.map(Absolute), st.tuples(TARGETS, TARGETS))
QUALIFIED = st.builds(lambda path, leaf: ".".join([*path, leaf]), PATHS, SEGMENTS)


@given(st.dictionaries(QUALIFIED, VALUES, max_size=6), PATHS, SEGMENTS)
def test_random_tables_resolve_as_the_rule_says(alias: dict[str, AliasValue], path: list[str], leaf: str) -> None:
    """Against the rule written once more, over a resource that answers with the key it was asked for."""
    asked: list[str] = []

    class Everything(dict[str, Tensor]):
        def __contains__(self, key: object) -> bool:
            return True

        def __getitem__(self, key: str) -> Tensor:
            asked.append(key)
            return torch.zeros(())

    scope: RuntimeResource = DictResource(Everything(), alias=alias)
    prefix = ""
    for segment in path:
        target = alias.get(prefix + segment, alias.get(segment, segment))
        if not isinstance(target, str):
            with pytest.raises(TypeError):
                scope.subtree(segment)
            return
        scope, prefix = scope.subtree(segment), prefix + target + "."
    target = alias.get(prefix + leaf, alias.get(leaf, leaf))
    if isinstance(target, tuple):
        assert scope.load_group(leaf) is not None
        assert asked == [prefix + member for member in target]
    else:
        scope.load(leaf)
        assert asked == [target.name if isinstance(target, Absolute) else f"{prefix}{target}"]
