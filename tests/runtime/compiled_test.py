"""CompiledModule on real libraries, compiled here: statements 22 to 24 and 79."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import tilefoundry as tf
from tilefoundry.dsl import Mesh, Tensor, Topology
from tilefoundry.dsl import tf as tf_ops
from tilefoundry.runtime import CompiledModule, DictResource, EntryABI, ParamABI
from tilefoundry.runtime.loader import load_linked_module

LANES = (Topology("thread", 4),)


@tf.func(topologies=LANES)
def add(a: Tensor[(3, 8), "f32"], b: Tensor[(3, 8), "f32"]) -> Tensor[(3, 8), "f32"]:
    with Mesh(("thread",), (4,), ("t",)) as t:
        x, y = tf_ops.reshard(a, (3, 8 @ t.t), "rmem"), tf_ops.reshard(b, (3, 8 @ t.t), "rmem")
        return tf_ops.reshard(x + y * 2.0, (3, 8), "gmem")


@tf.func(topologies=LANES)
def both(a: Tensor[(4,), "f32"], b: Tensor[(4,), "f32"]) -> (Tensor[(4,), "f32"], Tensor[(4,), "f32"]):
    with Mesh(("thread",), (4,), ("t",)) as t:
        x, y = tf_ops.reshard(a, (4 @ t.t,), "rmem"), tf_ops.reshard(b, (4 @ t.t,), "rmem")
        return (tf_ops.reshard(x + y, (4,), "gmem"), tf_ops.reshard(x - y, (4,), "gmem"))


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILEFOUNDRY_CACHE_DIR", str(tmp_path_factory.mktemp("kernels")))
        yield


@pytest.fixture(scope="module")
def compiled(_own_cache: None) -> CompiledModule:
    return tf.jit(add, target="cpu")


A, B = torch.arange(24.0).reshape(3, 8), torch.ones(3, 8)


def test_22_a_compiled_module_is_a_leaf_without_weights(compiled: CompiledModule) -> None:
    assert isinstance(compiled, CompiledModule)
    assert compiled.name == compiled.entry == compiled.type.name == "add"
    assert (compiled.modules, compiled.module) == ((), None)
    compiled.load(DictResource({}))
    compiled.load(None)  # nothing is asked of it
    assert torch.equal(compiled.forward(A, B), compiled(A, B))
    assert Path(compiled.linked.library).is_file()
    again = load_linked_module(compiled.linked)
    assert (again.name, again.entry, again.module) == ("add", "add", None)
    assert torch.equal(again(A, B), A + 2)


def test_23_outputs_are_allocated_or_filled_as_given(compiled: CompiledModule) -> None:
    made = compiled(A, B)
    assert torch.equal(made, A + 2)
    assert (made.device, made.dtype, made.is_contiguous()) == (A.device, torch.float32, True)
    out = torch.full((3, 8), torch.nan)
    assert compiled(A, B, out) is out
    assert torch.equal(out, A + 2)
    for count in (0, 1, 4):
        with pytest.raises(TypeError, match=rf"add: takes 2 argument\(s\) \(a, b\)(.|\n)*3 with(.|\n)*got {count}"):
            compiled(*[A] * count)


def test_23_partial_outputs_are_refused() -> None:
    module = tf.jit(both, target="cpu")
    with pytest.raises(TypeError, match=r"takes 2 argument\(s\) \(a, b\)(.|\n)*4 with(.|\n)*got 3"):
        module(torch.ones(4), torch.ones(4), torch.empty(4))


def test_23_without_a_tensor_there_is_no_device(compiled: CompiledModule) -> None:
    number = ParamABI("s", tf.TensorType.scalar(tf.DType.f32))
    abi = EntryABI("f", (number, compiled.type.output_params[0]), 1)
    with pytest.raises(TypeError, match="cannot infer device"):
        CompiledModule(abi, compiled._fn)(1.0)


def test_24_one_output_is_bare_several_are_a_tuple_and_none_is_empty(compiled: CompiledModule) -> None:
    assert isinstance(compiled(A, B), torch.Tensor)
    x, y = torch.arange(4.0), torch.ones(4)
    made = tf.jit(both, target="cpu")(x, y)
    assert isinstance(made, tuple)
    assert [t.tolist() for t in made] == [(x + y).tolist(), (x - y).tolist()]
    given = torch.empty(4), torch.empty(4)
    filled = tf.jit(both, target="cpu")(x, y, *given)
    assert isinstance(filled, tuple)
    assert all(a is b for a, b in zip(filled, given, strict=True))
    assert torch.equal(given[1], x - y)
    # The entry of the library on three inputs: it fills the last, and gives nothing back.
    inputs_alone = EntryABI("add", compiled.type.params, 0)
    out = torch.empty(3, 8)
    assert CompiledModule(inputs_alone, compiled._fn)(A, B, out) == ()
    assert torch.equal(out, A + 2)


def test_79_allocation_takes_torch_tensors_and_a_given_output_any_dlpack_tensor(compiled: CompiledModule) -> None:
    a, b = A.numpy(), B.numpy()
    for args, name, kind in (((a, b), "a", "ndarray"), ((A, b), "b", "ndarray"), ((A, [1.0]), "b", "list")):
        with pytest.raises(TypeError, match=f"'{name}' is a {kind}, expected a torch.Tensor"):
            compiled(*args)
    out = np.zeros((3, 8), np.float32)
    assert compiled(a, b, out) is out
    assert np.array_equal(out, a + 2 * b)
    mixed = torch.empty(3, 8)
    assert compiled(a, B, mixed) is mixed
    assert np.array_equal(mixed.numpy(), out)
    with pytest.raises(TypeError, match="argument 'b' must be a kDLCPU tensor of f32, got"):
        compiled(A, [1.0], mixed)
