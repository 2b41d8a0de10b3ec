"""Twins that run: the statements of the runtime's behaviour that they answer to."""

# mypy: ignore-errors
# (attributes of a Module and of a twin are found at run time)

from __future__ import annotations

import pytest
import torch

import tilefoundry  # noqa: F401  (brings the evaluator)
from tilefoundry.dsl import ConstTensor, Tensor
from tilefoundry.ir.core.module import Module
from tilefoundry.python import func, module
from tilefoundry.runtime import (
    AllClose,
    CompiledModule,
    DictResource,
    EntryABI,
    ParamABI,
    RuntimeFunction,
    RuntimeModule,
    check,
    entry_abi_of,
    param_abi_of,
    runtime_func,
    runtime_module,
)
from tilefoundry.runtime.module import authored_module
from tilefoundry.runtime.testing import Model, Proj, TorchModel, TorchProj, weights


def loaded_twin(seed: int = 0):
    twin = TorchModel()
    twin.load(DictResource(weights(seed)))
    return twin


def test_a_twin_agrees_with_the_reading_of_its_module() -> None:
    resource, x = DictResource(weights()), torch.randn(2, 4)
    report = check(
        lambda x: loaded_twin()(x, 3),
        lambda x: Model.load(resource)(x, 3),
        (x,),
        expect={"output": [AllClose(atol=1e-5, rtol=1e-5)]},
    )
    assert report.passed, report


def test_statement_1_a_node_has_a_name_an_entry_and_children() -> None:
    leaf = RuntimeModule("leaf")
    root = RuntimeModule("root", "run", [leaf])
    assert (root.name, root.entry, root.modules, root.module) == ("root", "run", (leaf,), None)
    assert (leaf.entry, leaf.modules) == (None, ())
    for node in (root, TorchModel()):
        with pytest.raises(AttributeError):
            node.module = Model
    twin = TorchModel()
    assert (twin.name, twin.entry, twin.module) == ("Model", "mix", Model)
    assert [m.name for m in twin.modules] == ["first", "second"]


def test_statement_2_the_base_runs_nothing_and_a_call_is_forward() -> None:
    with pytest.raises(NotImplementedError, match="'root'"):
        RuntimeModule("root")(1)

    class Twice(RuntimeModule):
        def forward(self, x):
            return 2 * x

    assert Twice("t")(21) == 42


def test_statement_3_the_base_loads_its_children_and_nothing_else() -> None:
    asked = []

    class Scope:
        def __init__(self, path):
            self.path = path

        def subtree(self, seg):
            asked.append(f"{self.path}/{seg}")
            return Scope(f"{self.path}/{seg}")

    class Leaf(RuntimeModule):
        def load(self, resource):
            asked.append(f"loads {resource.path}")

    RuntimeModule("root", None, (Leaf("a"), RuntimeModule("b", None, (Leaf("c"),)))).load(Scope(""))
    assert asked == ["/a", "loads /a", "/b", "/b/c", "loads /b/c"]


def test_statement_10_the_constructor_takes_another_module_of_the_same_structure() -> None:
    other = Proj.renamed("other")
    twin = TorchProj(ir=other)
    assert (twin.module, twin.name) == (other, "other")
    assert [c.module for c in TorchModel().modules] == list(Model.modules)
    with pytest.raises(TypeError, match="missing: mix, scale|extra: run"):
        TorchProj(ir=Model)
    with pytest.raises(TypeError, match="expected a Module, got int"):
        TorchProj(ir=3)


def test_statement_10_a_module_of_other_parameters_is_refused() -> None:
    @module(entry="run")
    class Swapped:
        @func
        def run(w: ConstTensor[(4, 4), "f32"], x: Tensor[(2, 4), "f32"]) -> Tensor[(4, 4), "f32"]:
            return w

    with pytest.raises(TypeError, match=r"'run' takes \(w, x\), the decorated Module's takes \(x, w\)"):
        TorchProj(ir=Swapped)


def test_statement_11_kernels_take_activations_once_loaded() -> None:
    tensors, x = weights(), torch.randn(2, 4)
    twin = TorchModel()
    for call in (lambda: twin.mix(x, x), lambda: twin(x, 1), lambda: twin.first(x), lambda: twin.scale(2.0)):
        with pytest.raises(RuntimeError, match=r"not bound; call load\(resource\) first"):
            call()
    twin.load(DictResource(tensors))
    assert torch.equal(twin.mix(x, x), x * tensors["gain"] + x)
    assert torch.equal(twin.first(x), x @ tensors["first.w"])


def test_statement_12_load_checks_shape_then_dtype_and_names_all_that_is_missing() -> None:
    twin, tensors = TorchModel(), weights()
    with pytest.raises(ValueError, match=r"weight 'first.w': declared with shape \(4, 4\), got \(2, 2\)"):
        twin.load(DictResource({**tensors, "first.w": torch.ones(2, 2, dtype=torch.float64)}))
    with pytest.raises(ValueError, match="'gain': declared with dtype f32, got f64(.|\n)*weight converter"):
        twin.load(DictResource({**tensors, "gain": tensors["gain"].double()}))
    with pytest.raises(KeyError) as caught:
        twin.load(DictResource({}))
    assert all(f"'{name}'" in str(caught.value) for name in tensors)


def test_statement_13_a_failing_load_changes_nothing() -> None:
    twin, x = loaded_twin(1), torch.randn(2, 4)
    before = twin(x, 1)
    for bad in ({"second.w": torch.ones(1)}, {"second.w": torch.ones(4, 4).long()}):
        with pytest.raises(ValueError, match="'second.w'"):
            twin.load(DictResource({**weights(2), **bad}))
        assert torch.equal(twin(x, 1), before)
    incomplete = weights(2)
    del incomplete["second.w"]
    with pytest.raises(KeyError):
        twin.load(DictResource(incomplete))
    assert torch.equal(twin(x, 1), before)


def test_statement_13_a_second_load_replaces_everything() -> None:
    twin, x = loaded_twin(1), torch.randn(2, 4)
    twin.load(DictResource(weights(2)))
    assert torch.equal(twin(x, 2), loaded_twin(2)(x, 2))


def test_statement_13_a_child_that_loads_by_itself_does_so_after_all_checks() -> None:
    loads = []

    class Own(RuntimeModule):
        def __init__(self, ir):
            super().__init__(ir.name, ir.entry)

        def load(self, resource):
            loads.append(resource.load("anything"))

    @runtime_module(Model)
    class Mixed:
        first = Own
        second = TorchProj
        scale = RuntimeFunction(entry_abi_of(Model.lookup("scale")))

        @runtime_func
        def mix(self, x, gain, y):
            return x

    tensors = {**weights(), "first.anything": torch.ones(1)}
    with pytest.raises(ValueError, match="'second.w'"):
        Mixed().load(DictResource({**tensors, "second.w": torch.ones(1)}))
    assert loads == []
    Mixed().load(DictResource(tensors))
    assert loads == [tensors["first.anything"]]


def test_statement_14_attributes_are_kernels_children_and_methods() -> None:
    twin = loaded_twin()
    assert twin.mix.__name__ == "mix"
    assert isinstance(twin.first, TorchProj)
    assert twin.init_caches(2)[0] is twin
    with pytest.raises(AttributeError, match="'nothing'(.|\n)*mix, scale, first, second"):
        twin.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="_hidden"):
        twin._hidden  # noqa: B018


def test_statement_15_forward_is_the_own_one_the_modules_or_the_entry() -> None:
    @runtime_module(Model)
    class Own:
        first = TorchProj
        second = TorchProj
        scale = RuntimeFunction(entry_abi_of(Model.lookup("scale")))

        @runtime_func
        def mix(self, x, gain, y):
            return x

        def forward(self, x):
            return "own", x

    assert Own()(1) == ("own", 1)
    x, tensors = torch.randn(2, 4), weights()
    assert loaded_twin()(x, 0) is x  # the Module's method
    twin = TorchProj()
    twin.load(DictResource({"w": tensors["first.w"]}))
    assert torch.equal(twin(x), x @ tensors["first.w"])  # the entry

    @runtime_module(Module("bare", Proj.functions))
    class Bare:
        @runtime_func
        def run(self, x, w):
            return x

    with pytest.raises(TypeError, match=r"no forward method and no entry(.|\n)*call one of: run"):
        Bare()(x)


def test_methods_take_keywords_and_kernels_refuse_them_by_name() -> None:
    x, twin = torch.randn(2, 4), loaded_twin()
    assert torch.equal(twin(x, steps=2), twin(x, 2))
    assert torch.equal(twin.forward(x=x, steps=2), twin(x, 2))
    assert twin.init_caches(size=2)[0] is twin
    for call in (twin.first, twin.first.forward, twin.first.run):
        with pytest.raises(TypeError, match=r"first.run takes its arguments by position, got the keyword\(s\) x"):
            call(x=x)


def test_a_tensor_given_by_keyword_must_not_change_either() -> None:
    @runtime_module(Proj)
    class Writes:
        @runtime_func
        def run(self, x, w):
            return x

        def forward(self, x):
            return x.add_(1)

    with pytest.raises(RuntimeError, match="activation 'x' was changed in place"):
        Writes()(x=torch.ones(2, 4))


def test_statement_16_the_number_of_activations_is_checked() -> None:
    twin, x = loaded_twin(), torch.randn(2, 4)
    for acts in ((x,), (x, x, x)):
        with pytest.raises(TypeError, match=r"Model.mix takes 2 activation\(s\) \(x, y\), got"):
            twin.mix(*acts)
    with pytest.raises(TypeError, match=r"first.run takes 1 activation\(s\) \(x\), got 2"):
        twin.first(x, x)


def test_statement_17_devices_must_agree() -> None:
    with pytest.raises(ValueError, match="more than one device.*'gain' on cpu, activation 0 on meta"):
        loaded_twin().mix(torch.ones(2, 4, device="meta"), torch.ones(2, 4))
    with pytest.raises(ValueError, match=r"'first\.w' on cpu, activation 0 on meta"):
        loaded_twin().first(torch.ones(2, 4, device="meta"))


def test_statement_17_children_that_the_function_reaches_count() -> None:
    @module(entry="block")
    class Block:
        used, unused = Proj.renamed("used"), Proj.renamed("unused")

        @func
        def block(x: Tensor[(2, 4), "f32"]) -> Tensor[(2, 4), "f32"]:
            return used(x) + x

    ran = []

    @runtime_module(Block)
    class TorchBlock:
        used = TorchProj
        unused = TorchProj

        @runtime_func
        def block(self, x):
            ran.append("block")
            return self.used(x) + x

    twin, x = TorchBlock(), torch.randn(2, 4)
    here, far = torch.ones(4, 4), torch.ones(4, 4, device="meta")
    twin.load(DictResource({"used.w": here, "unused.w": far}))
    assert torch.equal(twin(x), Block.load(DictResource({"used.w": here, "unused.w": far}))(x))
    twin.load(DictResource({"used.w": far, "unused.w": here}))
    with pytest.raises(ValueError, match="Block.block: .*weight 'used.w' on meta, activation 0 on cpu"):
        twin(x)
    assert ran == ["block"]  # the second call did not start


def test_statement_18_the_abi_is_frozen_and_splits_inputs_from_outputs() -> None:
    a, b, out = (ParamABI(name, Proj.weights["w"]) for name in ("a", "b", "out"))
    entry = EntryABI("f", (a, b, out), 1)
    assert (entry.input_count, entry.input_params, entry.output_params) == (2, (a, b), (out,))
    assert EntryABI("f", (a,)).output_count == 0
    for record, field in ((entry, "name"), (a, "type")):
        with pytest.raises(AttributeError):
            setattr(record, field, None)


def test_statement_19_a_function_without_a_body_says_whose() -> None:
    with pytest.raises(NotImplementedError, match="'run'"):
        RuntimeFunction(entry_abi_of(Proj.lookup("run")))(1)


def test_statements_20_and_21_the_abi_of_a_function() -> None:
    run = Proj.lookup("run")
    assert entry_abi_of(run) == EntryABI("run", tuple(param_abi_of(p) for p in run.params), 0)


def test_statement_76_whoever_needs_the_module_refuses_none() -> None:
    compiled = CompiledModule(EntryABI("f", ()), lambda: None)
    assert compiled.module is None
    with pytest.raises(TypeError, match=r"@runtime_module: runtime module 'f' \(CompiledModule\) stands for no single"):
        runtime_module(compiled)
    assert authored_module(TorchModel(), "test") is Model
    reading = Proj.load(DictResource({"w": torch.ones(4, 4)}))

    for stand_in in (reading, TorchProj()):

        @runtime_module(stand_in)
        class Again:
            @runtime_func
            def run(self, x, w):
                return x

        assert Again().module is Proj


def test_statement_77_a_step_leaves_what_it_is_given() -> None:
    twin, x = loaded_twin(), torch.randn(2, 4)
    before = x.clone()
    twin(x, 3)
    assert torch.equal(x, before)

    @runtime_module(Proj)
    class Careless:
        @runtime_func
        def run(self, x, w):
            return x.mul_(2.0)

    @runtime_module(Proj)
    class Worse:
        @runtime_func
        def run(self, x, w):
            return x @ w.mul_(2.0)

    for cls, words in ((Careless, "activation 0 was changed in place"), (Worse, "weight 'w' was changed in place")):
        bad = cls()
        bad.load(DictResource({"w": torch.ones(4, 4)}))
        with pytest.raises(RuntimeError, match=words):
            bad(torch.ones(2, 4))


def test_a_step_under_inference_mode_runs() -> None:
    with torch.inference_mode():
        twin = loaded_twin()
        assert twin(torch.ones(2, 4), 2).shape == (2, 4)
