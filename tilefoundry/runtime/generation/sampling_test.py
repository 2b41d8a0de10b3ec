"""Samplers: what may be drawn and how often, held against a model in plain Python."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tilefoundry.runtime import Sampling
from tilefoundry.runtime.generation.sampling import candidates, draw

# Few distinct values, so that ties are common; and extremes.
LOGITS = st.lists(st.sampled_from([-math.inf, -40.0, -1.5, 0.0, 0.25, 1.0, 30.0]), min_size=1, max_size=12).filter(
    lambda row: max(row) > -math.inf
)
# How long an example takes is the machine's affair.
UNTIMED = settings(deadline=None)
TEMPERATURES = st.sampled_from([1e-300, 0.1, 0.7, 1.0, 3.0, 1e6])


def model(
    row: list[float], temperature: float, top_k: int | None, top_p: float | None
) -> tuple[list[int], list[float]]:
    """The rule once more: rank by (-logit, id), weigh, cut to k, cut to the nucleus."""
    ranked = sorted(range(len(row)), key=lambda i: (-row[i], i))
    ranked = ranked[: len(row) if top_k is None else top_k]
    weights = [math.exp((row[i] - max(row)) / temperature) for i in ranked]
    total = math.fsum(weights)
    kept: list[int] = []
    held = 0.0
    for token, weight in zip(ranked, weights, strict=True):
        if top_p is not None and kept and held >= top_p:
            break
        kept.append(token)
        held += weight / total
    weights = weights[: len(kept)]
    return kept, [weight / math.fsum(weights) for weight in weights]


@UNTIMED
@given(LOGITS, TEMPERATURES, st.none() | st.integers(1, 15), st.none() | st.sampled_from([0.05, 0.3, 0.77, 0.95, 1.0]))
def test_the_candidates_are_the_models(
    row: list[float], temperature: float, top_k: int | None, top_p: float | None
) -> None:
    ids, probabilities = candidates(torch.tensor(row, dtype=torch.float64), Sampling(temperature, top_k, top_p))
    want_ids, want = model(row, temperature, top_k, top_p)
    # Where what the likelier tokens hold lies on the bound, the last bit decides whether one more token is kept.
    shared = min(len(want_ids), len(ids))
    assert ids.tolist()[:shared] == want_ids[:shared]
    if len(ids) == len(want_ids):
        assert probabilities.tolist() == pytest.approx(want, rel=1e-12, abs=1e-300)
    else:
        assert top_p is not None
        before = math.fsum(model(row, temperature, top_k, None)[1][:shared])
        assert before == pytest.approx(top_p, abs=1e-12)
    assert math.fsum(probabilities.tolist()) == pytest.approx(1.0)


@UNTIMED
@given(LOGITS, st.integers(0, 2**32), st.none() | st.integers(1, 3))
def test_temperature_0_is_greedy_and_ties_go_to_the_lower_id(row: list[float], seed: int, top_k: int | None) -> None:
    sampling = Sampling(temperature=0.0, top_k=top_k, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        assert draw(torch.tensor(row, dtype=dtype), sampling, generator) == row.index(max(row))


@UNTIMED
@given(LOGITS, TEMPERATURES)
def test_top_k_of_1_is_greedy_at_every_temperature(row: list[float], temperature: float) -> None:
    generator = torch.Generator().manual_seed(0)
    assert draw(torch.tensor(row), Sampling(temperature, top_k=1), generator) == row.index(max(row))


@UNTIMED
@given(LOGITS, TEMPERATURES, st.integers(0, 2**63 - 1))
def test_draws_repeat_under_a_seed_and_stay_among_the_candidates(
    row: list[float], temperature: float, seed: int
) -> None:
    sampling, logits = Sampling(temperature, top_k=5, top_p=0.9, seed=seed), torch.tensor(row)
    runs = []
    for _ in range(2):
        generator = torch.Generator().manual_seed(seed)
        runs.append([draw(logits, sampling, generator) for _ in range(4)])
    assert runs[0] == runs[1]
    ids, probabilities = candidates(logits, sampling)
    assert set(runs[0]) <= set(ids[probabilities > 0].tolist())


def test_draws_are_as_frequent_as_they_are_likely() -> None:
    logits = torch.tensor([0.0, math.log(2), math.log(4), math.log(8), -math.inf])
    generator = torch.Generator().manual_seed(7)
    counts = Counter(draw(logits, Sampling(temperature=1.0), generator) for _ in range(30_000))
    assert counts[4] == 0
    for token, share in enumerate((1 / 15, 2 / 15, 4 / 15, 8 / 15)):
        deviation = math.sqrt(30_000 * share * (1 - share))
        assert abs(counts[token] - 30_000 * share) < 4 * deviation


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"temperature": -0.1}, ValueError, "temperature: expected a finite number of at least 0"),
        ({"temperature": math.nan}, ValueError, "temperature"),
        ({"temperature": math.inf}, ValueError, "temperature"),
        ({"temperature": "hot"}, TypeError, "temperature: expected a number, got 'hot'"),
        ({"temperature": True}, TypeError, "temperature"),
        ({"top_k": 0}, ValueError, "top_k: expected at least 1, below .*, got 0"),
        ({"top_k": 1.5}, TypeError, "top_k: expected an int"),
        ({"top_p": 0.0}, ValueError, "top_p: expected a number above 0"),
        ({"top_p": 1.01}, ValueError, "top_p"),
        ({"top_p": math.nan}, ValueError, "top_p"),
        ({"seed": -1}, ValueError, "seed: expected at least 0"),
        ({"seed": 2**63}, ValueError, "seed"),
        ({"seed": None}, TypeError, "seed"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, object], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        Sampling(**arguments)  # type: ignore[arg-type]
