"""The calling convention of a compiled entry, with a plain function in the place of the library."""

import pytest
import torch

from tilefoundry.ir.dims import DimVar, ceildiv, dim_add, dim_sub
from tilefoundry.ir.types import DType, ShapeDim, StorageKind, TensorType
from tilefoundry.runtime import CompiledModule, EntryABI, ParamABI

M, N = DimVar("M", 0, 1000), DimVar("N", 0, 1000)


def tensor(name: str, shape: tuple[ShapeDim, ...], dtype: DType = DType.f32) -> ParamABI:
    return ParamABI(name, TensorType(shape, dtype, None, StorageKind.GMEM))


class Recorder:
    """Stands for the entry: keeps what it was called with."""

    def __call__(self, *args: object) -> None:
        self.args = args


ENTRY = EntryABI(
    "f", (tensor("a", (M, N)), tensor("b", (N,)), tensor("out", (M,)), tensor("sum", (dim_add(M, N),), DType.i64)), 2
)


def test_it_is_a_runtime_module_without_children() -> None:
    module = CompiledModule(ENTRY, Recorder())
    assert (module.name, module.entry, module.modules, module.module) == ("f", "f", (), None)
    module.load(object())  # type: ignore[arg-type]


def test_outputs_are_allocated_from_the_extents_of_the_inputs() -> None:
    entry = Recorder()
    result = CompiledModule(ENTRY, entry)(torch.ones(3, 5), torch.ones(5))
    assert isinstance(result, tuple)
    out, total = result
    assert (out.shape, out.dtype) == ((3,), torch.float32)
    assert (total.shape, total.dtype) == ((8,), torch.int64)
    assert entry.args[2] is out and entry.args[3] is total


def test_given_outputs_come_back_as_the_same_objects() -> None:
    given = torch.empty(3), torch.empty(8, dtype=torch.int64)
    result = CompiledModule(ENTRY, Recorder())(torch.ones(3, 5), torch.ones(5), *given)
    assert isinstance(result, tuple) and all(a is b for a, b in zip(result, given, strict=True))


def test_one_output_is_bare_and_none_is_an_empty_tuple() -> None:
    one = EntryABI("f", (tensor("a", (M,)), tensor("out", (M,))), 1)
    assert isinstance(CompiledModule(one, Recorder())(torch.ones(3)), torch.Tensor)
    assert CompiledModule(EntryABI("f", (tensor("a", (M,)),)), Recorder())(torch.ones(3)) == ()


@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_any_other_count_names_both_counts_and_the_parameters(count: int) -> None:
    with pytest.raises(
        TypeError, match=r"takes 2 argument\(s\) \(a, b\).*4 with the outputs \(out, sum\).*got " + str(count)
    ):
        CompiledModule(ENTRY, Recorder())(*[torch.ones(3)] * count)


def test_without_a_tensor_there_is_no_device() -> None:
    scalar = EntryABI("f", (ParamABI("s", TensorType.scalar(DType.f32)), tensor("out", (4,))), 1)
    with pytest.raises(TypeError, match="cannot infer device"):
        CompiledModule(scalar, Recorder())(1.0)
    assert CompiledModule(scalar, Recorder())(torch.tensor(1.0)).shape == (4,)  # type: ignore[attr-defined]


def test_outputs_are_allocated_for_torch_tensors_only() -> None:
    with pytest.raises(TypeError, match="'b' is a list, expected a torch.Tensor"):
        CompiledModule(ENTRY, Recorder())(torch.ones(3, 5), [1.0])


def test_an_extent_that_no_input_has() -> None:
    entry = EntryABI("f", (tensor("a", (M,)), tensor("out", (M, N))), 1)
    with pytest.raises(TypeError, match="output 'out': no input has the extent N"):
        CompiledModule(entry, Recorder())(torch.ones(3))


def test_an_input_of_another_rank_is_left_to_the_entry() -> None:
    entry = Recorder()
    CompiledModule(ENTRY, entry)(torch.ones(3), torch.ones(5))
    assert entry.args[3] is None


def test_an_output_in_place_is_the_input() -> None:
    entry = EntryABI("f", (tensor("a", (M,)), tensor("out", (M,))), 1, (("out", "a"),))
    a = torch.ones(3)
    assert CompiledModule(entry, Recorder())(a) is a


def test_a_lazily_negated_input_is_resolved_and_such_an_output_refused() -> None:
    entry = Recorder()
    module = CompiledModule(EntryABI("f", (tensor("a", (M,)), tensor("out", (M,))), 1), entry)
    negated = torch._neg_view(torch.ones(3))
    module(negated)
    assert not entry.args[0].is_neg() and entry.args[0].tolist() == [-1.0] * 3  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="argument 'out' is an output that torch negates lazily"):
        module(torch.ones(3), negated)


def test_an_output_takes_no_part_in_autograd() -> None:
    module = CompiledModule(EntryABI("f", (tensor("a", (M,)), tensor("out", (M,))), 1), Recorder())
    out = module(torch.ones(3, requires_grad=True))
    assert isinstance(out, torch.Tensor) and not out.requires_grad
    with pytest.raises(ValueError, match="argument 'out' is an output that requires grad"):
        module(torch.ones(3), torch.ones(3, requires_grad=True))
    with torch.no_grad():
        module(torch.ones(3), torch.ones(3, requires_grad=True))


def test_a_computed_extent() -> None:
    entry = EntryABI("f", (tensor("a", (M, N)), tensor("out", (ceildiv(M, 2), dim_sub(N, 4)))), 1)
    out = CompiledModule(entry, Recorder())(torch.ones(5, 7))
    assert isinstance(out, torch.Tensor) and out.shape == (3, 3)
    record = Recorder()
    with pytest.raises(ValueError, match=r"output 'out' would have the shape \(3, -1\)"):
        CompiledModule(entry, record)(torch.ones(5, 3))
    assert not hasattr(record, "args")  # nothing ran


def test_tensors_that_torch_transforms_are_named() -> None:
    def exporting(*args: object) -> None:  # as the real entry does: by the address
        for value in args:
            assert isinstance(value, torch.Tensor)
            value.data_ptr()

    entry = EntryABI("f", (tensor("x", (4,)), tensor("out", (4,))), 1)
    module = CompiledModule(entry, exporting)
    with pytest.raises(TypeError, match="argument 'x' is a tensor that torch transforms(.|\n)*outside of torch.vmap"):
        torch.vmap(module)(torch.ones(3, 4))
    assert isinstance(module(torch.ones(4)), torch.Tensor)
