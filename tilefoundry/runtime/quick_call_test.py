"""Calls of compiled entries: the quick way and the general one do the same."""

from __future__ import annotations

import pytest
import torch

from tilefoundry.ir.types import DType, StorageKind, TensorType
from tilefoundry.runtime.abi import EntryABI, ParamABI
from tilefoundry.runtime.compiled import CompiledModule

VECTOR = TensorType((4,), DType.f32, None, StorageKind.GMEM)
S, A, B, O, Q = (  # noqa: E741
    ParamABI("s", TensorType.scalar(DType.f32)),
    *(ParamABI(name, VECTOR) for name in ("a", "b", "o", "q")),
)


class Recorder:
    """Stands for an entry, and keeps what it was called on."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.error = error

    def __call__(self, *args: object) -> None:
        self.calls.append(args)
        if self.error is not None:
            raise self.error


def module(*params: ParamABI, outputs: int = 1, fn: Recorder | None = None) -> tuple[CompiledModule, Recorder]:
    fn = fn or Recorder()
    return CompiledModule(EntryABI("f", params, outputs), fn), fn


def test_all_arguments_go_to_the_entry_as_they_are() -> None:
    one, fn = module(S, A, O)
    a, out = torch.ones(4), torch.empty(4)
    assert one(2.0, a, out) is out
    two, other = module(A, O, Q, outputs=2)
    outputs = torch.empty(4), torch.empty(4)
    assert all(x is y for x, y in zip(two(a, *outputs), outputs, strict=True))  # type: ignore[call-overload]
    none, _ = module(A, B, outputs=0)
    assert none(a, torch.nn.Parameter(a)) == ()
    assert fn.calls == [(2.0, a, out)]
    assert [id(x) for x in other.calls[0]] == [id(x) for x in (a, *outputs)]


def test_what_is_not_plain_is_looked_at() -> None:
    f, fn = module(A, B, O)
    a, out = torch.ones(4), torch.empty(4)
    f(torch._neg_view(a), a, out)
    assert torch.equal(fn.calls[0][0], -a) and not fn.calls[0][0].is_neg()  # type: ignore[arg-type,attr-defined]
    for bad, words in (
        (torch._neg_view(out), "an output that torch negates lazily"),
        (torch.empty(4, requires_grad=True), "an output that requires grad"),
    ):
        with pytest.raises(ValueError, match=f"argument 'o' is {words}"):
            f(a, a, bad)
    with torch.no_grad():
        f(a, a, torch.empty(4, requires_grad=True))
    f(a.numpy(), a, out)  # the entry judges what is no torch tensor
    assert len(fn.calls) == 3


@pytest.mark.parametrize("count", [0, 1, 3, 5, 6])
def test_any_other_number_of_arguments_is_refused(count: int) -> None:
    f, fn = module(A, B, O, Q, outputs=2)
    with pytest.raises(TypeError, match=rf"f: takes 2 argument\(s\) \(a, b\) and returns outputs, or 4 .* got {count}"):
        f(*[torch.ones(4)] * count)
    with pytest.raises(TypeError, match="keyword argument"):
        f(torch.ones(4), p1=torch.ones(4))  # type: ignore[call-arg]
    assert not fn.calls


def test_none_is_an_argument_like_any_other() -> None:
    f, fn = module(A, O)
    out = torch.empty(4)
    f(None, out)
    assert fn.calls == [(None, out)]


def test_errors_come_through() -> None:
    f, _ = module(A, O, fn=Recorder(RuntimeError("of torch")))
    for args in ((torch.ones(4), torch.empty(4)), (torch.ones(4),)):
        with pytest.raises(RuntimeError, match="of torch"):
            f(*args)
    with pytest.raises(ValueError, match="argument 'a' is on the device 'meta'"):
        f(torch.ones(4, device="meta"), torch.empty(4))


def test_the_class_is_its_own_in_all_but_the_call() -> None:
    f, _ = module(A, O)
    assert isinstance(f, CompiledModule) and type(f).__name__ == "CompiledModule"
    assert type(f) is type(module(B, O)[0]) and type(f) is not type(module(S, A, O)[0])

    class Counted(CompiledModule):
        def __call__(self, *args: object) -> object:
            return "mine", super().__call__(*args)

    mine = Counted(EntryABI("f", (A, O), 1), Recorder())
    out = torch.empty(4)
    assert mine(torch.ones(4), out) == ("mine", out)
    many = EntryABI("f", tuple(ParamABI(f"p{i}", VECTOR) for i in range(70)), 1)
    assert type(CompiledModule(many, Recorder())) is CompiledModule
