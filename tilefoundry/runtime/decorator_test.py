"""What ``@runtime_module`` and ``@runtime_func`` accept: the statements that they answer to."""

# mypy: ignore-errors
# (attributes of a Module and of a twin are found at run time)

from __future__ import annotations

import pytest
import torch

import tilefoundry  # noqa: F401  (brings the evaluator)
from tilefoundry.dsl import Tensor
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.python import func
from tilefoundry.runtime import DictResource, RuntimeFunction, RuntimeModule, entry_abi_of
from tilefoundry.runtime.decorator import runtime_func, runtime_module
from tilefoundry.runtime.testing import Model, Proj, TorchModel, TorchProj

SCALE = RuntimeFunction(entry_abi_of(Model.lookup("scale")))


@runtime_func
def mix(self, x, gain, y):
    return x


@runtime_func
def run(self, x, w):
    return x @ w


def twin_of(sem: Module, **members: object) -> type[RuntimeModule]:
    return runtime_module(sem)(type("Made", (), members))


def test_statement_4_only_a_plain_function_is_marked() -> None:
    def kernel(self):
        return None

    assert runtime_func(kernel) is kernel
    for other in (staticmethod(kernel), classmethod(kernel), print, SCALE, 3, type):
        with pytest.raises(TypeError, match="expected a function defined with 'def'"):
            runtime_func(other)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"first": TorchProj, "second": TorchProj, "mix": mix}, "are mix, .* are mix, scale; missing: scale"),
        (
            {"first": TorchProj, "second": TorchProj, "mix": mix, "scale": SCALE, "more": run},
            "are mix, more, scale, .* are mix, scale; extra: more",
        ),
        (
            {"first": TorchProj, "mix": mix, "scale": SCALE},
            "child classes are first, .* are first, second; missing: second",
        ),
        (
            {"first": TorchProj, "second": TorchProj, "third": TorchProj, "mix": mix, "scale": SCALE},
            "child classes are first, second, third, .* are first, second; extra: third",
        ),
        (
            {"first": TorchProj, "second": object, "mix": mix, "scale": SCALE},
            "missing: second",
        ),
    ],
)
def test_statement_5_kernels_and_children_match_one_to_one(members: dict[str, object], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        twin_of(Model, **members)


def test_statement_5_an_unmarked_method_is_no_kernel() -> None:
    with pytest.raises(TypeError, match=r"its kernels \(@runtime_func\) are none, the Module's functions are run"):
        twin_of(Proj, run=lambda self, x, w: x)


@pytest.mark.parametrize("kind", ["function", "child", "method"])
def test_statement_6_module_is_reserved(kind: str) -> None:
    members = {
        "function": {"functions": (func_named_module(),)},
        "child": {"functions": (), "modules": (Proj.renamed("module"),)},
        "method": {"functions": (), "methods": {"module": print}},
    }[kind]
    with pytest.raises(TypeError, match="declares 'module', which is reserved"):
        twin_of(Module("m", **members), module=run)


def func_named_module():
    @func
    def module(x: Tensor[(2,), "f32"]) -> Tensor[(2,), "f32"]:
        return x

    return module


def test_statement_6_a_twin_does_not_write_module() -> None:
    with pytest.raises(TypeError, match="the class writes 'module'"):
        twin_of(Proj, run=run, module=property(lambda self: None))


def test_statement_7_a_runtime_function_is_a_kernel() -> None:
    given = []

    class Body(RuntimeFunction):
        def __call__(self, *args):
            given.append(args)
            return "value"

    twin = twin_of(Proj, run=Body(entry_abi_of(Proj.lookup("run"))))()
    w, x = torch.ones(4, 4), torch.ones(2, 4)
    twin.load(DictResource({"w": w}))
    assert twin(x) == "value"
    assert given == [(x, w)]  # full arguments, and no self


def test_statement_8_a_child_is_a_class() -> None:
    with pytest.raises(TypeError, match="child 'second' is an instance of TorchProj, expected the class"):
        twin_of(Model, first=TorchProj, second=TorchProj(), mix=mix, scale=SCALE)


def test_statement_9_the_class_stays_the_authors() -> None:
    assert (TorchModel.__name__, TorchModel.__qualname__) == ("TorchModel", "TorchModel")
    assert TorchModel.__module__ == "tilefoundry.runtime.testing"
    assert TorchModel.__doc__ == "Model with torch."
    assert issubclass(TorchModel, RuntimeModule)
    assert TorchModel.OFFSET == 0.0

    class Base:
        STEP = 2

        def helper(self):
            return self.STEP

    @runtime_module(Proj)
    class Derived(Base):
        @runtime_func
        def run(self, x, w):
            return x * self.helper()

        def helper(self):
            return super().helper() + 1

        def forward(self, x):
            return "own"

    twin = Derived()
    twin.load(DictResource({"w": torch.ones(4, 4)}))
    assert torch.equal(twin.run(torch.ones(2, 4)), torch.full((2, 4), 3.0))
    assert twin(1) == "own"


def test_an_authors_constructor_runs_after_the_twins() -> None:
    @runtime_module(Proj)
    class Stateful:
        def __init__(self):
            super().__init__()
            self.seen = [self.name]

        @runtime_func
        def run(self, x, w):
            self.seen.append("run")
            return x

    one, two = Stateful(), Stateful(ir=Proj.renamed("other"))
    one.load(DictResource({"w": torch.ones(4, 4)}))
    one(torch.ones(2, 4))
    assert (one.seen, two.seen) == (["Proj", "run"], ["other"])


def test_methods_come_from_the_module_as_they_are() -> None:
    with pytest.raises(TypeError, match="writes 'init_caches', a method that the twin takes from the Module"):
        twin_of(Model, first=TorchProj, second=TorchProj, mix=mix, scale=SCALE, init_caches=print)
    assert TorchModel.init_caches is Model.methods["init_caches"]


@pytest.mark.parametrize(
    ("kernel", "shown"),
    [
        (lambda self, w, x: x, r"\(w, x\)"),
        (lambda self, x: x, r"\(x\)"),
        (lambda self, x, w, more: x, r"\(x, w, more\)"),
        (lambda self, x, weight: x, r"\(x, weight\)"),
        (lambda self, *args: args, r"\(\*args\)"),
        (lambda self, x, *, w: x, r"\(x, \*, w\)"),
    ],
)
def test_statement_74_the_parameters_of_a_kernel_are_the_functions(kernel, shown: str) -> None:
    with pytest.raises(TypeError, match=rf"kernel 'run' takes {shown}, the function takes \(x, w\)"):
        twin_of(Proj, run=runtime_func(kernel))


def test_statement_74_holds_for_runtime_functions() -> None:
    with pytest.raises(TypeError, match=r"kernel 'run' takes \(s, gain\), the function takes \(x, w\)"):
        twin_of(Proj, run=SCALE)


def test_statement_75_a_child_class_takes_ir() -> None:
    class Closed(RuntimeModule):
        def __init__(self):
            super().__init__("closed")

    class Open(RuntimeModule):
        def __init__(self, **options):
            super().__init__(options["ir"].name)

    with pytest.raises(TypeError, match=r"child class 'second' \(Closed\) does not take ir="):
        twin_of(Model, first=TorchProj, second=Closed, mix=mix, scale=SCALE)
    assert [m.name for m in twin_of(Model, first=TorchProj, second=Open, mix=mix, scale=SCALE)().modules] == [
        "first",
        "second",
    ]


def test_members_may_have_any_other_name() -> None:
    """What a twin is made of gives way to the Module's names."""
    names = ("constants", "child", "devices", "bound", "forward")
    run_ir = Proj.lookup("run")
    functions = [Function(n, run_ir.params, run_ir.body, run_ir.return_type) for n in names]
    sem = Module("sem", tuple(functions), entry="child")
    twin = twin_of(sem, **dict.fromkeys(names, run))()
    w, x = torch.randn(4, 4), torch.randn(2, 4)
    twin.load(DictResource({"w": w}))
    for call in (twin, *(getattr(twin, n) for n in names)):
        assert torch.equal(call(x), x @ w)


def test_what_is_decorated_is_checked() -> None:
    with pytest.raises(TypeError, match="expected a Module, got str"):
        runtime_module("Proj")
    with pytest.raises(TypeError, match="expected a class, got function"):
        runtime_module(Proj)(lambda: None)


def test_the_public_names() -> None:
    import tilefoundry.runtime as public

    assert (public.runtime_module, public.runtime_func) == (runtime_module, runtime_func)
