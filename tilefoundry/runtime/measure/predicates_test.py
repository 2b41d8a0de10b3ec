"""What each predicate measures: statements 56, 60-65 and 67 of the runtime contract, and the reports behind them."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tilefoundry.runtime.measure import (
    PREDICATES,
    AllClose,
    Cosine,
    Equal,
    MaxAbs,
    MaxRel,
    NanInf,
    Predicate,
    PredicateResult,
    RelL2,
    Ulp,
    check,
)

INF, NAN = math.inf, math.nan
FP8 = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e8m0fnu)
TOLERANT: tuple[Predicate, ...] = (
    AllClose(1e30, 1e30),
    RelL2(1e30),
    MaxAbs(1e30),
    MaxRel(1e30),
    Ulp(1e30),
    Cosine(0.0),
)


def measure(predicate: Predicate, candidate: Tensor, reference: Tensor | None) -> PredicateResult:
    known = None if reference is None else (lambda: reference.clone())
    report = check(lambda: candidate, known, (), expect={"output": [predicate]})
    return report.outputs[0].results[0]


def t(*values: float, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.tensor(values, dtype=dtype)


def test_56_predicates_in_order_and_what_they_need() -> None:
    names = ["allclose", "rel_l2", "cosine", "equal", "ulp", "max_abs", "max_rel", "nan_inf"]
    assert list(PREDICATES) == names
    assert [n for n, p in PREDICATES.items() if not p.needs_reference] == ["nan_inf"]
    assert [n for n, p in PREDICATES.items() if p.discrete] == ["equal"]
    assert {n: p.bounds for n, p in PREDICATES.items() if p.bounds} == {
        "allclose": ("atol", "rtol"),
        "rel_l2": ("max",),
        "cosine": ("min",),
        "ulp": ("max",),
        "max_abs": ("max",),
        "max_rel": ("max",),
    }


@pytest.mark.parametrize("bound", [-1.0, NAN])
@pytest.mark.parametrize("name", ["allclose", "rel_l2", "cosine", "ulp", "max_abs", "max_rel"])
def test_67_negative_nan_or_missing_bound_is_refused(name: str, bound: float) -> None:
    kind = PREDICATES[name]
    with pytest.raises(ValueError, match="missing"):
        kind()
    for bad in kind.bounds:
        with pytest.raises(ValueError, match=f"{name}: bound '{bad}'"):
            kind(**(dict.fromkeys(kind.bounds, 0.5) | {bad: bound}))
    with pytest.raises(TypeError, match="must be a number"):
        kind(**dict.fromkeys(kind.bounds, "0.5"))


def test_67_cosine_bound_above_one_could_never_pass() -> None:
    with pytest.raises(ValueError, match="at most 1"):
        Cosine(1.5)


def test_60_f64_compares_in_f64() -> None:
    one_step = t(1.0, dtype=torch.float64).nextafter(t(2.0, dtype=torch.float64))
    assert not measure(MaxAbs(1e-16), one_step, t(1.0, dtype=torch.float64)).passed
    assert measure(MaxAbs(3e-16), one_step, t(1.0, dtype=torch.float64)).passed


def test_60_worst_integer_difference_is_exact() -> None:
    low, high = t(-(2**63), dtype=torch.int64), t(2**63 - 1, dtype=torch.int64)
    assert measure(Equal(), low, high).values == {"differing": 1, "max_abs": 18446744073709551615}
    unsigned = torch.tensor([0, 2**64 - 1], dtype=torch.uint64)
    other = torch.tensor([1, 0], dtype=torch.uint64)
    assert measure(Equal(), unsigned, other).values["max_abs"] == 2**64 - 1
    flags = torch.tensor([True, False])
    assert measure(Equal(), flags, ~flags).values == {"differing": 2, "max_abs": 1}


@pytest.mark.parametrize("scale", [1e38, 1e-20, 1e-45])
def test_60_norms_keep_their_ratio_at_extreme_scales(scale: float) -> None:
    three, one = t(3 * scale, 3 * scale), t(scale, scale)
    expected = float((three.double() - one.double()).norm() / one.double().norm())
    assert measure(RelL2(3), three, one).values["rel_l2"] == pytest.approx(expected, rel=1e-15)
    assert measure(Cosine(1.0), three, three.clone()).values["cosine"] == 1.0


def test_60_norms_of_extreme_f64() -> None:
    for scale in (1e300, 1e-300, 5e-324):
        x = t(3 * scale, 4 * scale, dtype=torch.float64)
        report = check(lambda x=x: 2 * x, lambda x=x: x, (), expect={"output": [RelL2(1.0), Cosine(1.0)]})
        assert report.passed, report
        assert report.outputs[0].ref_norm == pytest.approx(5 * scale)


def test_61_equal_infinities_agree() -> None:
    x = t(INF, -INF, 1.0)
    for predicate in (AllClose(0, 0), AllClose(0, 1), MaxAbs(0), MaxRel(0), RelL2(0), Ulp(0), Cosine(1.0)):
        assert measure(predicate, x, x).passed, predicate
    assert "left out" in str(measure(RelL2(0), x, x).note)


@pytest.mark.parametrize("predicate", TOLERANT, ids=lambda p: p.name)
@pytest.mark.parametrize("pair", [(INF, -INF), (1.0, INF), (INF, 1.0), (INF, 0.0)])
def test_61_an_infinity_against_anything_else_fails_for_every_tolerance(
    predicate: Predicate, pair: tuple[float, float]
) -> None:
    result = measure(predicate, t(1.0, pair[0]), t(1.0, pair[1]))
    assert not result.passed
    assert "first infinite difference at [1]" in str(result.note)
    if predicate.name in ("rel_l2", "max_abs", "max_rel", "ulp"):
        assert result.values[predicate.name] == INF
    if predicate.name == "allclose":
        assert result.values == {"mismatched": 1, "max_abs": INF}


@pytest.mark.parametrize("predicate", TOLERANT, ids=lambda p: p.name)
def test_61_a_nan_fails_unless_equal_nan_is_stated(predicate: Predicate) -> None:
    x = torch.arange(1.0, 11.0).reshape(2, 5)
    nan = x.clone()
    nan[1, 2] = NAN
    forgiving = dataclasses.replace(predicate, equal_nan=True)  # type: ignore[call-arg]
    for candidate, reference in ((nan, x), (x, nan), (nan, nan)):
        result = measure(predicate, candidate, reference)
        assert not result.passed
        assert "first NaN at [1, 2]" in str(result.note)
    assert not measure(forgiving, nan, x).passed
    assert not measure(forgiving, x, nan).passed
    assert measure(forgiving, nan, nan).passed


def test_61_zero_over_zero_is_no_error() -> None:
    result = measure(MaxRel(0), t(0.0, -0.0, 2.0), t(0.0, 0.0, 2.0))
    assert result.passed
    assert result.values == {"max_rel": 0.0}
    assert result.note is None


def test_62_equal_is_bitwise() -> None:
    bits = torch.tensor([0x7FC00000, 0x7FC00001, 0x3F800000], dtype=torch.int32).view(torch.float32)
    assert measure(Equal(), bits, bits).passed
    payload = measure(Equal(), bits[0:1], bits[1:2])
    assert not payload.passed
    assert payload.note == "first at [0]: nan (0x7fc00000) against nan (0x7fc00001)"
    zeros = measure(Equal(), t(1.0, -0.0, -0.0), t(1.0, 0.0, 0.0))
    assert zeros.values == {"differing": 2}
    assert zeros.note == "first at [1]: -0.0 against 0.0"


@pytest.mark.parametrize(
    ("a", "b", "dtype", "steps"),
    [
        (-0.0, 0.0, torch.float32, 0),
        (-1e-45, 1e-45, torch.float32, 2),
        (-(2.0**-126), 2.0**-126, torch.float32, 2**24),
        (-2.0, 2.0, torch.float64, 9223372036854775808),
        (1.0, 1.0009765625, torch.float16, 1),
        (1.0, 1.0078125, torch.bfloat16, 1),
        (448.0, 416.0, torch.float8_e4m3fn, 1),
        (1.0, 1.5, torch.float8_e5m2, 2),
        (1.0, 4.0, torch.float8_e8m0fnu, 2),
    ],
)
def test_63_ulp_counts_representable_steps(a: float, b: float, dtype: torch.dtype, steps: int) -> None:
    result = measure(Ulp(steps), t(a).double().to(dtype), t(b).double().to(dtype))
    assert result.values == {"ulp": steps}
    assert result.passed
    if steps:
        assert not measure(Ulp(steps - 1), t(a).double().to(dtype), t(b).double().to(dtype)).passed


def test_63_steps_to_an_infinity_are_noted() -> None:
    largest = torch.finfo(torch.float32).max
    result = measure(Ulp(10), t(largest), t(INF))
    assert not result.passed
    assert "1 steps across an infinity" in str(result.note)


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_64_cosine_of_itself_is_exactly_one(values: list[float]) -> None:
    x = torch.tensor(values, dtype=torch.float32)
    result = measure(Cosine(1.0), x, x)
    assert result.passed
    assert result.values.get("cosine", 1.0) == 1.0


@given(st.integers(0, 2**31), st.floats(0, 1e-6))
def test_64_cosine_never_exceeds_one(seed: int, noise: float) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(33, generator=generator, dtype=torch.float64)
    result = measure(Cosine(0.0), x * (1 + noise), x)
    assert 1 - 1e-9 < result.values["cosine"] <= 1.0


@pytest.mark.parametrize("predicate", [*TOLERANT, Equal(), NanInf()], ids=lambda p: p.name)
def test_65_an_empty_tensor_passes_with_a_visible_note(predicate: Predicate) -> None:
    result = measure(predicate, torch.empty(0, 3), torch.empty(0, 3) if predicate.needs_reference else None)
    assert result.passed
    assert result.note == "nothing compared"


def test_65_a_zero_reference_is_measured_absolutely() -> None:
    zero, small = torch.zeros(4), torch.full((4,), 0.5)
    norm = measure(RelL2(1.0), small, zero)
    assert norm.passed
    assert norm.values == {"rel_l2": 1.0}
    assert "absolutely" in str(norm.note)
    assert not measure(RelL2(0.9), small, zero).passed
    largest = measure(MaxRel(0.5), small, zero)
    assert largest.passed
    assert largest.values == {"max_rel": 0.5}
    assert largest.note == "4 elements have a zero reference, measured absolutely"
    assert measure(Cosine(1.0), zero, zero).passed
    direction = measure(Cosine(0.0), small, zero)
    assert not direction.passed
    assert direction.values == {"abs_l2": 1.0}
    assert "no direction" in str(direction.note)


def test_66_fp8_is_measured() -> None:
    a, b = t(448.0, dtype=torch.float8_e4m3fn), t(416.0, dtype=torch.float8_e4m3fn)
    assert measure(AllClose(0, 32 / 416), a, b).passed
    assert not measure(AllClose(0, 31 / 416), a, b).passed
    nan = torch.tensor([0x7F, 0x38], dtype=torch.uint8).view(torch.float8_e4m3fn)
    assert measure(NanInf(), nan, None).values == {"nan": 1, "inf": 0}
    infinite = torch.tensor([0x7C, 0x38], dtype=torch.uint8).view(torch.float8_e5m2)
    assert measure(NanInf(), infinite, None).values == {"nan": 0, "inf": 1}


@pytest.mark.parametrize("dtype", FP8)
def test_66_ulp_order_of_every_fp8_pattern_matches_its_values(dtype: torch.dtype) -> None:
    patterns = torch.arange(256, dtype=torch.uint8).view(dtype)
    finite = patterns[patterns.double().isfinite()]
    ordered = finite[finite.double().argsort(stable=True)]
    distinct = set(ordered.double().tolist())
    result = measure(Ulp(256), ordered[:1], ordered[-1:])
    assert result.values["ulp"] == len(distinct) - 1


def test_66_complex_is_measured_by_modulus() -> None:
    a, b = torch.tensor([1 + 1e-3j]), torch.tensor([1 + 2e-3j])
    assert measure(MaxAbs(1.1e-3), a, b).values["max_abs"] == pytest.approx(1e-3, rel=1e-4)
    assert not measure(MaxAbs(0.9e-3), a, b).passed
    hidden = torch.tensor([complex(1, NAN)])
    assert not measure(MaxAbs(1), hidden, a).passed
    assert measure(NanInf(), hidden, None).values == {"nan": 1, "inf": 0}
    assert measure(Equal(), a, a.clone()).passed
    assert not measure(Equal(), a, b).passed
    with pytest.raises(ValueError, match="no order"):
        measure(Ulp(1), a, b)


@given(st.integers(0, 2**31), st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64]))
def test_distances_agree_with_plain_f64_arithmetic(seed: int, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(seed)
    c, r = (torch.randn(3, 5, generator=generator).to(dtype) for _ in range(2))
    apart, size = (c.double() - r.double()).abs(), r.double().abs()
    assert measure(MaxAbs(9), c, r).values["max_abs"] == float(apart.max())
    assert measure(MaxRel(INF), c, r).values["max_rel"] == float((apart / size).max())
    assert measure(RelL2(9), c, r).values["rel_l2"] == pytest.approx(float(apart.norm() / size.norm()), rel=1e-14)
    assert measure(AllClose(0.5, 0.25), c, r).values["mismatched"] == int((apart > 0.5 + 0.25 * size).sum())


def test_outputs_longer_than_one_run_and_not_contiguous() -> None:
    reference = torch.arange(700 * 700, dtype=torch.float32).reshape(700, 700)
    candidate = reference.t().contiguous().t()
    assert measure(Equal(), candidate, reference).passed
    candidate[699, 3] += 64
    result = measure(Equal(), candidate, reference)
    assert result.values == {"differing": 1}
    assert str(result.note).startswith("first at [699, 3]")
    assert measure(MaxAbs(1), candidate, reference).values == {"max_abs": 64.0}
