"""What `check` accepts, refuses and reports: statements 57-60, 66 and 68-73 of the runtime contract."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from tilefoundry.runtime.measure import AllClose, Cosine, Equal, MaxAbs, NanInf, RelL2, Report, Ulp, check

CLOSE = [AllClose(atol=1e-6, rtol=1e-5)]
X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_57_paths_of_nested_tuples() -> None:
    def tree(x: Tensor) -> object:
        return x + 1, (x * 2, (x * 3,)), ()

    paths = ["output[0]", "output[1][0]", "output[1][1][0]"]
    report = check(tree, tree, (X,), expect={path: [Equal()] for path in paths})
    assert [output.path for output in report.outputs] == paths
    assert report.passed


@pytest.mark.parametrize("bad", [[X], None, 1.0, {"a": X}])
def test_57_anything_but_tensors_and_tuples_is_refused(bad: object) -> None:
    with pytest.raises(TypeError, match=r"output\[1\]: expected a torch.Tensor or a tuple"):
        check(lambda: (X, bad), lambda: (X, X), (), expect={"output": CLOSE})
    with pytest.raises(TypeError, match=r"input\[0\]\[1\]: expected a torch.Tensor"):
        check(lambda x: x, lambda x: x, ((X, bad),), expect={"output": CLOSE})
    with pytest.raises(TypeError, match="inputs: expected a tuple"):
        check(lambda x: x, lambda x: x, [X], expect={"output": CLOSE})  # type: ignore[arg-type]


def test_58_the_reference_runs_on_its_own_copies() -> None:
    def in_place(x: Tensor) -> Tensor:
        return x.mul_(2).clone()

    x = X.clone()
    report = check(in_place, in_place, (x,), expect={"output": [Equal()]})
    assert torch.equal(report_value(report), torch.tensor(0.0))
    assert report.mutated_inputs == ("input[0]",)
    assert not report.passed
    assert report.outputs[0].passed
    assert "input[0]  written into by the candidate  FAIL" in str(report)
    pure = check(lambda x: x * 2, in_place, (x,), expect={"output": [Equal()]})
    assert pure.passed
    assert pure.mutated_inputs == ()


def report_value(report: Report) -> Tensor:
    return torch.tensor(float(report.outputs[0].results[0].values["differing"]))


def test_58_a_tensor_given_twice_and_named_tuples_survive_the_copy() -> None:
    class Pair(NamedTuple):
        a: Tensor
        b: Tensor

    def same(pair: Pair, z: Tensor) -> Tensor:
        assert pair.a is z
        return pair.a + pair.b

    shared = X.clone()
    assert check(same, same, (Pair(shared, X), shared), expect={"output": [Equal()]}).passed


def test_58_results_in_the_same_memory_are_refused() -> None:
    static = torch.empty_like(X)

    def into_static(x: Tensor) -> Tensor:
        return torch.add(x, 1, out=static)

    with pytest.raises(ValueError, match="returned the same memory"):
        check(into_static, into_static, (X,), expect={"output": [Equal()]})


@pytest.mark.parametrize(
    ("candidate", "reference", "message"),
    [
        (torch.ones(3, 1), torch.ones(3), r"output: the candidate has shape \(3, 1\), the reference \(3,\)"),
        (torch.ones(3), torch.ones(3).double(), "dtype torch.float32, the reference torch.float64"),
        ((torch.ones(3),), torch.ones(3), r"structure differs: the candidate has output\[0\], the reference output$"),
        ((torch.ones(3), torch.ones(3)), (torch.ones(3),), "structure differs"),
    ],
)
def test_59_form_is_compared_before_any_value(candidate: object, reference: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(lambda: candidate, lambda: reference, (), expect={"output": CLOSE})


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.bool])
@pytest.mark.parametrize("predicate", [AllClose(1, 1), RelL2(1), Cosine(0), Ulp(1), MaxAbs(1), NanInf()])
def test_60_only_equal_is_accepted_on_integers_and_booleans(dtype: torch.dtype, predicate: object) -> None:
    x = torch.ones(3, dtype=dtype)
    with pytest.raises(ValueError, match="state equal"):
        check(lambda: x, lambda: x.clone(), (), expect={"output": [predicate]})  # type: ignore[list-item]


def test_66_packed_and_sparse_outputs_are_refused_with_the_reason() -> None:
    packed = torch.zeros(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    with pytest.raises(TypeError, match="packs two values"):
        check(lambda: packed, lambda: packed.clone(), (), expect={"output": [Equal()]})
    with pytest.raises(TypeError, match="dense tensor"):
        check(lambda: torch.eye(3).to_sparse(), lambda: torch.eye(3), (), expect={"output": [Equal()]})


def test_68_one_line_per_output() -> None:
    reference = torch.tensor([[3.0, 4.0]])
    report = check(
        lambda: (reference + torch.tensor([0.0, 0.5]), reference.bfloat16()),
        lambda: (reference, reference.bfloat16()),
        (),
        expect={"output[0]": [MaxAbs(0.25), RelL2(max=0.2)], "output[1]": [Ulp(1)]},
    )
    first, second = str(report).splitlines()
    assert first == (
        "output[0]  float32[1,2]   ref_norm 5  max_abs(max=0.25) FAILED max_abs=0.5, rel_l2(max=0.2) rel_l2=0.1"
        "  worst [0, 1]: 4.5 against 4  FAIL"
    )
    assert " ".join(second.split()) == "output[1] bfloat16[1,2] ref_norm 5 ulp(max=1) ulp=0 worst none PASS"
    assert first.index("ref_norm") == second.index("ref_norm")


def test_68_the_worst_element_puts_nan_before_infinity_before_distance() -> None:
    reference = torch.zeros(2, 2)
    for values, index in (([0, 9, 1, 0], (0, 1)), ([0, 9, math.inf, 0], (1, 0)), ([0, 9, math.inf, math.nan], (1, 1))):
        candidate = torch.tensor(values, dtype=torch.float32).reshape(2, 2)
        report = check(lambda c=candidate: c, lambda: reference, (), expect={"output": [NanInf()]})
        worst = report.outputs[0].worst
        assert worst is not None
        assert worst.index == index


def test_68_json_holds_what_the_text_holds() -> None:
    report = check(lambda: X / 0, lambda: X, (), expect={"output": [MaxAbs(0.5), NanInf()]})
    document = json.loads(report.to_json())
    assert document["passed"] is False
    (output,) = document["outputs"]
    assert output["path"] == "output"
    assert output["shape"] == [2, 3]
    assert output["dtype"] == "float32"
    assert output["results"][0] == {
        "predicate": "max_abs",
        "bounds": {"max": 0.5},
        "values": {"max_abs": "inf"},
        "note": "first infinite difference at [0, 0]",
        "passed": False,
    }
    assert output["worst"] == {"index": [0, 0], "candidate": "inf", "reference": 1.0}


def test_69_each_path_has_one_non_empty_list() -> None:
    with pytest.raises(ValueError, match=r"no predicate for output\[1\]"):
        check(lambda: (X, X), lambda: (X + 0, X + 0), (), expect={"output[0]": [Equal()]})
    with pytest.raises(ValueError, match=r"expect\['output'\]: the list of predicates is empty"):
        check(lambda: X, lambda: X + 0, (), expect={"output": []})
    with pytest.raises(TypeError, match="expected a sequence of predicates"):
        check(lambda: X, lambda: X + 0, (), expect={"output": Equal()})  # type: ignore[dict-item]


def test_70_a_path_that_was_not_produced_lists_those_that_were() -> None:
    with pytest.raises(ValueError, match=r"names output\[2\], but what was produced is output\[0\], output\[1\]"):
        check(lambda: (X, X), lambda: (X + 0, X + 0), (), expect={"output[2]": CLOSE})


def test_71_a_result_without_tensors_is_an_error() -> None:
    with pytest.raises(ValueError, match="no tensor"):
        check(lambda: (), lambda: (), (), expect={})


def test_72_no_reference_admits_only_one_sided_predicates() -> None:
    with pytest.raises(ValueError, match="max_abs needs a reference"):
        check(lambda: X, None, (), expect={"output": [NanInf(), MaxAbs(1)]})
    report = check(lambda: X, None, (), expect={"output": [NanInf()]})
    assert report.passed
    assert report.outputs[0].ref_norm is None


def test_73_reference_and_expect_have_no_default() -> None:
    with pytest.raises(TypeError):
        check(lambda: X, inputs=(), expect={"output": CLOSE})  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        check(lambda: X, None, ())  # type: ignore[call-arg]


def test_lazy_views_and_gradients_are_resolved() -> None:
    z = torch.tensor([1 + 2j, 3 - 4j])
    lazy = check(lambda: z.conj(), lambda: z.conj().resolve_conj(), (), expect={"output": [Equal(), MaxAbs(0)]})
    assert lazy.passed
    weight = torch.ones(3, requires_grad=True)
    assert check(lambda w: w * 2, lambda w: w + w, (weight,), expect={"output": [Equal()]}).passed
