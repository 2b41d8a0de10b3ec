"""Module.load and LoadedModule, on torch: the statements of the runtime's behaviour that they answer to."""

# mypy: ignore-errors
# (attributes of a Module are found at run time)

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import tilefoundry  # noqa: F401  (brings the evaluator)
from tilefoundry.dsl import ConstTensor, DimVar, DimVarRangePat, Tensor, tf
from tilefoundry.ir.core.module import LoadedModule, Module
from tilefoundry.python import func, module
from tilefoundry.runtime import DictResource, SafetensorsResource
from tilefoundry.runtime.testing import Model, Proj, weights

N = DimVar("N", 1, 9)


class OwnResource:
    """A user's resource: nothing but the three methods, and nothing inherited."""

    def __init__(self, tensors: dict[str, torch.Tensor], prefix: str = "") -> None:
        self.tensors, self.prefix = tensors, prefix

    def load(self, name: str) -> torch.Tensor:
        return self.tensors[self.prefix + name]

    def load_group(self, name: str) -> None:
        return None

    def subtree(self, seg: str) -> OwnResource:
        return OwnResource(self.tensors, f"{self.prefix}{seg}.")


def test_statement_39_a_reading_leaves_the_module_as_it_was() -> None:
    before = repr(Model)
    loaded = Model.load(DictResource(weights()))
    assert isinstance(loaded, LoadedModule)
    assert (loaded.module, list(loaded.constants)) == (Model, ["gain"])
    assert [m.module.name for m in loaded.modules] == ["first", "second"]
    assert repr(Model) == before
    assert not hasattr(Model, "constants")
    with pytest.raises(TypeError):
        loaded.constants["gain"] = torch.zeros(4)


def test_statement_39_readings_are_independent() -> None:
    one, two = weights(1), weights(2)
    first, second = Model.load(DictResource(one)), Model.load(DictResource(two))
    x = torch.ones(2, 4)
    assert torch.equal(first.first(x), x @ one["first.w"])
    assert torch.equal(second.first(x), x @ two["first.w"])


def test_statement_39_a_child_attached_twice_is_read_once_for_each() -> None:
    read = []

    class Counting(OwnResource):
        def load(self, name):
            read.append(self.prefix + name)
            return super().load(name)

        def subtree(self, seg):
            return Counting(self.tensors, f"{self.prefix}{seg}.")

    tensors = weights()
    loaded = Model.load(Counting(tensors))
    assert sorted(read) == ["first.w", "gain", "second.w"]
    assert loaded.first is not loaded.second
    assert loaded.first.constants["w"] is tensors["first.w"]
    assert loaded.second.constants["w"] is tensors["second.w"]


def test_what_is_no_resource_is_refused_by_name(tmp_path: Path) -> None:
    for given in ({"w": torch.ones(4)}, 3):
        for use in (Model.load, lambda raw: Model.prepare(raw, tmp_path / "out")):
            with pytest.raises(
                TypeError, match=rf"expected a resource .* got {type(given).__name__}\s+help: .*DictResource"
            ):
                use(given)
    assert not (tmp_path / "out").exists()


def test_statement_39_all_missing_weights_are_named() -> None:
    with pytest.raises(KeyError, match="missing declared weight") as caught:
        Model.load(DictResource({"first.w": torch.zeros(4, 4)}))
    assert "'gain'" in str(caught.value)
    assert "'second.w'" in str(caught.value)
    assert "'first.w'" not in str(caught.value).split("close matches")[0]
    assert "asked for" not in str(caught.value)


@pytest.mark.parametrize("kind", ["dictionary", "checkpoint"])
def test_missing_and_unexpected_names_are_listed_together(kind: str, tmp_path: Path) -> None:
    stored = {("second.weight" if name == "second.w" else name): value for name, value in weights().items()}
    del stored["gain"]
    resource = DictResource(stored)
    if kind == "checkpoint":
        save_file(stored, tmp_path / "model.safetensors")
        resource = SafetensorsResource(tmp_path, device="cpu")
    with pytest.raises(KeyError) as caught:
        Model.load(resource)
    text = str(caught.value)
    assert "'gain'" in text and "'second.w'" in text  # missing: removed, and renamed
    assert text.splitlines()[-2].startswith("tensors that no declared weight asked for: 'second.weight'")


def test_names_that_a_model_does_not_declare_are_no_error() -> None:
    resource = DictResource({**weights(), "head.w": torch.ones(1)})
    Model.load(resource)
    assert resource.unread() == ("head.w",)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("first.w", torch.zeros(4, 5), r"weight 'first.w': declared with shape \(4, 4\), got \(4, 5\)"),
        ("gain", torch.zeros(4, 1), r"weight 'gain': declared with shape \(4\), got \(4, 1\)"),
        ("gain", torch.zeros(4, dtype=torch.bfloat16), "'gain': declared with dtype f32, got bf16(.|\n)*converter"),
        ("gain", torch.zeros(5, dtype=torch.bfloat16), r"shape \(4\), got \(5,\)"),  # shape first
    ],
)
def test_statement_39_weights_must_be_as_declared(name: str, value: torch.Tensor, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Model.load(DictResource({**weights(), name: value}))


def test_statement_39_every_unfit_weight_is_named() -> None:
    bad = {**weights(), "gain": torch.zeros(5), "second.w": torch.zeros(1)}
    with pytest.raises(ValueError, match="'gain'(.|\n)*'second.w'"):
        Model.load(DictResource(bad))


def test_what_is_no_tensor_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="weight 'gain' is a list, expected a tensor"):
        Model.load(OwnResource({**weights(), "gain": [1.0]}))


def test_a_dynamic_extent_is_one_value_in_all_weights_of_a_node() -> None:
    @module(entry="f")
    class Dynamic:
        @func
        def f(x: Tensor[(N,), "f32"], a: ConstTensor[(N,), "f32"], b: ConstTensor[(N,), "f32"]) -> Tensor[(N,), "f32"]:
            return x * a + b

    loaded = Dynamic.load(DictResource({"a": torch.ones(3), "b": torch.ones(3)}))
    assert torch.equal(loaded(torch.ones(3)), torch.full((3,), 2.0))
    with pytest.raises(ValueError, match=r"weight 'b': declared with shape \(N\), got \(4,\)"):
        Dynamic.load(DictResource({"a": torch.ones(3), "b": torch.ones(4)}))
    with pytest.raises(ValueError, match="weight 'a'"):  # outside of the envelope
        Dynamic.load(DictResource({"a": torch.ones(9), "b": torch.ones(9)}))


def test_an_affine_extent_of_a_weight_tells_its_dim_var() -> None:
    @module(entry="f")
    class Affine:
        @func
        def f(a: ConstTensor[(2 * N,), "f32"], b: ConstTensor[(N + 1,), "f32"]) -> Tensor[(N,), "f32"]:
            return a[0:N] + b[0:N]

    assert torch.equal(Affine.load(DictResource({"a": torch.ones(6), "b": torch.ones(4)}))(), torch.full((3,), 2.0))
    for a, b, wrong in ((5, 4, "a"), (6, 5, "b"), (18, 10, "a")):  # odd; another N; outside of the envelope
        with pytest.raises(ValueError, match=rf"weight '{wrong}': declared with shape"):
            Affine.load(DictResource({"a": torch.ones(a), "b": torch.ones(b)}))


def test_statement_40_a_reading_takes_activations_and_a_module_everything() -> None:
    tensors = weights()
    loaded, x, y = Model.load(DictResource(tensors)), torch.randn(2, 4), torch.randn(2, 4)
    assert torch.equal(loaded.mix(x, y), Model.mix(x, tensors["gain"], y))
    with pytest.raises(TypeError, match=r"takes 2 activation\(s\) \(x, y\), got 3(.|\n)*leave the weights out"):
        loaded.mix(x, tensors["gain"], y)
    with pytest.raises(TypeError, match=r"takes 2 activation\(s\)"):
        loaded.mix(x)
    with pytest.raises(TypeError, match=r"load\(resource\)"):
        Model.mix(x, y)


def test_methods_run_on_the_reading() -> None:
    tensors = weights()
    loaded, x = Model.load(DictResource(tensors)), torch.randn(2, 4)
    want = x
    for _ in range(2):
        want = (want @ tensors["first.w"]) * tensors["gain"] + want @ tensors["second.w"]
    torch.testing.assert_close(loaded(x, 2), want)
    assert loaded.init_caches(3)[0] is loaded
    with pytest.raises(AttributeError, match="'nothing'(.|\n)*mix, scale, first, second, forward, init_caches"):
        loaded.nothing  # noqa: B018
    with pytest.raises(AttributeError):
        loaded._hidden  # noqa: B018


def test_methods_take_keywords_and_functions_of_the_language_refuse_them_by_name() -> None:
    @module(entry="run")
    class Stepped:
        @func
        def run(x: Tensor[(2, 4), "f32"], w: ConstTensor[(4, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
            return tf.matmul(x, w)

        def forward(self, x, steps=3, *, scale=1):
            return self, x * steps * scale

        def twice(self, x, by=2):
            return x * by

    loaded = Stepped.load(DictResource({"w": torch.eye(4)}))
    for node in (Stepped, loaded):
        assert node(1) == (node, 3)
        assert node(1, steps=2, scale=5) == node.forward(x=1, steps=2, scale=5) == (node, 10)
        assert node.twice(x=3, by=4) == 12
        with pytest.raises(TypeError, match=r"Stepped.run takes its arguments by position, got the keyword\(s\) x, w"):
            node.run(x=1, w=2)
    reading = Proj.load(DictResource({"w": torch.eye(4)}))
    for node in (Proj, reading):
        for call in (node, node.forward, node.run):
            with pytest.raises(TypeError, match=r"Proj.run takes its arguments by position(.|\n)*leave the names out"):
                call(x=torch.ones(2, 4))


def test_a_private_member_is_refused_with_the_reason() -> None:
    def _helper(self):
        return 1

    def forward(self):
        return self._helper()

    node = Module("Closed", (), methods={"_helper": _helper, "forward": forward})
    words = r"module 'Closed' has no attribute '_helper'(.|\n)*names that start with '_' are private"
    for step in (node, node.load(DictResource({}))):
        with pytest.raises(AttributeError, match=words):
            step()


def test_statement_41_constants_and_activations_are_on_one_device() -> None:
    loaded = Model.load(DictResource(weights()))
    with pytest.raises(ValueError, match="more than one device") as caught:
        loaded.mix(torch.ones(2, 4), torch.ones(2, 4, device="meta"))
    for words in ("weight 'gain' on cpu", "activation 0 on cpu", "activation 1 on meta"):
        assert words in str(caught.value)
    with pytest.raises(ValueError, match="weight 'first.w' on cpu, activation 0 on meta"):
        loaded.first(torch.ones(2, 4, device="meta"))


def test_statement_41_every_constant_of_the_node_counts() -> None:
    @module(entry="f")
    class Two:
        child = Proj

        @func
        def f(x: Tensor[(2,), "f32"], a: ConstTensor[(2,), "f32"]) -> Tensor[(2,), "f32"]:
            return x + a

        @func
        def g(x: Tensor[(2,), "f32"], b: ConstTensor[(2,), "f32"]) -> Tensor[(2,), "f32"]:
            return x + b

    meta = {"b": torch.ones(2, device="meta"), "a": torch.ones(2), "child.w": torch.ones(4, 4)}
    with pytest.raises(ValueError, match="weight 'a' on cpu, weight 'b' on meta"):  # f does not read b
        Two.load(DictResource(meta)).f(torch.ones(2))
    far = {"a": torch.ones(2), "b": torch.ones(2), "child.w": torch.ones(4, 4, device="meta")}
    assert torch.equal(Two.load(DictResource(far)).f(torch.ones(2)), torch.full((2,), 2.0))  # no call reaches the child


def blocks_on(own: str, first: str, second: str):
    """A reading whose weights are on these devices; the call reaches the first of two grandchildren."""

    @module(entry="run")
    class Pair:
        left, right = Proj.renamed("left"), Proj.renamed("right")

        @func
        def run(x: Tensor[(2, 4), "f32"], b: ConstTensor[(4,), "f32"]) -> Tensor[(2, 4), "f32"]:
            return left(x) * b

    @module(entry="block")
    class Block:
        pair = Pair

        @func
        def block(x: Tensor[(2, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
            return pair(x) + x

    at = {"pair.b": own, "pair.left.w": first, "pair.right.w": second}
    shapes = {"pair.b": (4,)}
    tensors = {name: torch.ones(shapes.get(name, (4, 4)), device=device) for name, device in at.items()}
    return Block.load(DictResource(tensors))


def test_statement_41_children_that_the_call_reaches_count() -> None:
    x = torch.ones(2, 4)
    with pytest.raises(ValueError, match="Block.block: .*'pair.b' on cpu, weight 'pair.left.w' on meta, activation 0"):
        blocks_on("cpu", "meta", "cpu")(x)
    assert blocks_on("cpu", "cpu", "meta")(x).device.type == "cpu"


def test_statement_41_children_of_the_selected_variant_count() -> None:
    @module(entry="f")
    class Dispatched:
        low, high = Proj.renamed("low"), Proj.renamed("high")

        @func
        def f(n: Tensor[(N,), "f32"], x: Tensor[(2, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
            pass

        @f.specialize(DimVarRangePat("N", 1, 5))
        def small(n: Tensor[(N,), "f32"], x: Tensor[(2, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
            return low(x)

        @f.specialize(DimVarRangePat("N", 5, 9))
        def large(n: Tensor[(N,), "f32"], x: Tensor[(2, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
            return high(x)

    loaded = Dispatched.load(DictResource({"low.w": torch.eye(4), "high.w": torch.ones(4, 4, device="meta")}))
    x = torch.randn(2, 4)
    assert torch.equal(loaded(torch.ones(4), x), x)
    with pytest.raises(ValueError, match="Dispatched.f: .*weight 'high.w' on meta, activation 0 on cpu"):
        loaded(torch.ones(5), x)


def test_statement_45_a_bare_call_needs_a_method_or_an_entry() -> None:
    bare = Module("bare", Proj.functions)
    loaded = bare.load(DictResource({"w": torch.ones(4, 4)}))
    for callee in (bare, loaded):
        with pytest.raises(TypeError, match=r"no forward method and no entry(.|\n)*call one of: run"):
            callee(torch.ones(2, 4))


def test_statement_77_a_step_leaves_what_it_is_given() -> None:
    tensors, x = weights(), torch.randn(2, 4)
    kept, before = {k: v.clone() for k, v in tensors.items()}, x.clone()
    loaded = Model.load(DictResource(tensors))
    loaded(x, 3)
    Model.mix(x, tensors["gain"], x)
    assert torch.equal(x, before)
    assert all(torch.equal(tensors[k], kept[k]) for k in kept)


def test_statement_80_a_users_own_resource_serves() -> None:
    tensors, x = weights(), torch.randn(2, 4)
    assert torch.equal(Model.load(OwnResource(tensors))(x, 1), Model.load(DictResource(tensors))(x, 1))
    with pytest.raises(KeyError, match="missing declared weight(.|\n)*'gain'"):
        Model.load(OwnResource({}))


def test_statement_81_without_tensor_activations_the_constants_decide() -> None:
    loaded = Model.load(DictResource({k: v.to("meta") for k, v in weights().items()}))
    assert loaded.scale(2.0).device.type == "meta"
    assert Model.load(DictResource(weights())).scale(2.0).device.type == "cpu"


def test_statement_81_without_constants_the_evaluator_decides() -> None:
    @module(entry="f")
    class Free:
        @func
        def f(s: Tensor[(), "f32"]) -> Tensor[(), "f32"]:
            return s * 2.0

    assert Free.load(DictResource({}))(1.5).device.type == "cpu"
    assert Free.load(DictResource({}))(torch.ones((), device="meta")).device.type == "meta"
