"""For tests: programs of every kind that a command line can name, and the command as a user runs it."""

# mypy: ignore-errors
# ruff: noqa: F821
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import sys

import pytest
from typer.testing import CliRunner

import tilefoundry as tf
from tilefoundry.cli.main import app, main
from tilefoundry.dsl import ConstTensor, T, Tensor
from tilefoundry.dsl import tf as ops
from tilefoundry.runtime import CompiledModule, DictResource, EntryABI, RuntimeModule, runtime_func, runtime_module
from tilefoundry.target import CpuTarget

HERE = __name__
N = tf.DimVar("N", 1, 64)


@tf.module(entry="project")
class Projection:
    @tf.func
    def project(x: Tensor[(2, 3), "f32"], w: ConstTensor[(3, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
        return ops.matmul(x, w)


@tf.module(entry="gate", target=CpuTarget("x86-64-v2"), topologies=(tf.Topology("cta", N), tf.Topology("thread", 4)))
class Block:
    up = Projection

    @tf.func
    def gate(y: Tensor[(2, 4), "f32"], scale: ConstTensor[(4,), "f32"]) -> Tensor[(2, 4), "f32"]:
        return y * scale

    def forward(self, x):
        return self.gate(self.up(x))


@tf.module
class Bag:
    """Nothing to call."""

    up = Projection


@tf.func
def twice(x: Tensor[(N, 3), "f32"]) -> Tensor[(N, 3), "f32"]:
    return x + x


@tf.prim_func
def store(x: Tensor[(4,), "f32"], out: Tensor[(4,), "f32"]):
    T.copy(x, out)


@runtime_module(Projection)
class Twin:
    """A twin that cannot be made without arguments of its own; its class can be named all the same."""

    def __init__(self):
        raise RuntimeError("nobody asked for an instance")

    @runtime_func
    def project(self, x, w):
        return x @ w


@runtime_module(Projection)
class PlainTwin:
    @runtime_func
    def project(self, x, w):
        return x @ w


class Handwritten(RuntimeModule):
    """A runtime module of no Module."""


names = {"scale": "norm", "up": "h", "w": "weight"}
flat = {"w": "h.weight"}
LAYOUT = tf.Layout((2, 3), (3, 1))
twin = PlainTwin()
compiled = CompiledModule(EntryABI("kernel", ()), lambda: None)
handwritten = Handwritten("loose")


def loaded(weight: object) -> object:
    """A reading of `Projection`."""
    return Projection.load(DictResource({"w": weight}))


def run(*args: str, status: int = 0) -> str:
    """What the command prints; it ends with `status`."""
    result = CliRunner().invoke(app, list(args))
    assert result.exit_code == status, (result.output, result.exception)
    return result.output


def refusal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *args: str) -> tuple[str, str]:
    """The line that names the error, and the one with the remedy, of a command that refuses its arguments."""
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["tilefoundry", *args])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (2, ""), told
    first, remedy = told.err.splitlines()
    assert first.startswith("tilefoundry: ") and remedy.startswith("  help: ")
    return first.removeprefix("tilefoundry: "), remedy.removeprefix("  help: ")
