"""The generation loop on readings and on twins: statement 78, and what the runtime spec says of causal models."""

# mypy: ignore-errors
# (attributes of a Module and of a twin are found at run time)

from __future__ import annotations

import pytest
import torch

import tilefoundry  # noqa: F401  (brings the evaluator)
from tilefoundry.dsl import ConstTensor, DimVar, Tensor
from tilefoundry.ir.core.module import Module
from tilefoundry.python import func, module
from tilefoundry.runtime import DictResource, RuntimeModule, Sampling, generate, runtime_func, runtime_module

VOCABULARY = 6
N = DimVar("N", 1, 40)


@module(entry="step")
class Recurrent:
    """Its state fades by half with every token; the state that a call returns is the next cache."""

    @func
    def step(
        x: Tensor[(1, 6), "f32"], w: ConstTensor[(6, 6), "f32"], state: Tensor[(1, 6), "f32"]
    ) -> (Tensor[(1, 6), "f32"], Tensor[(1, 6), "f32"]):
        after = state * 0.5 + x
        return (after @ w, after)

    def init_caches(self, steps, *, device):
        assert steps > 0
        return (torch.zeros(1, VOCABULARY, device=device),)

    def prepare_inputs_for_generation(self, input_ids, step, caches, *, device):
        assert input_ids.shape == (step + 1,)
        return torch.eye(VOCABULARY, device=device)[input_ids[step]].reshape(1, -1), *caches


@module(entry="step")
class History:
    """It sees every token: the cache grows by what a call returns."""

    @func
    def step(
        seen: Tensor[(N, 6), "f32"], w: ConstTensor[(6, 6), "f32"]
    ) -> (Tensor[(N, 6), "f32"], Tensor[(N, 6), "f32"]):
        return (seen @ w, seen + 0.0)

    def forward(self, seen, position):
        logits, rows = self.step(seen)
        return logits[-1] * (1.0 + position), rows[-1:]

    def init_caches(self, steps, *, device):
        return {"rows": torch.zeros(0, VOCABULARY, device=device)}

    def prepare_inputs_for_generation(self, input_ids, step, caches, *, device):
        row = torch.eye(VOCABULARY, device=device)[input_ids[step]].reshape(1, -1)
        return torch.cat([caches["rows"], row + caches["rows"].sum(0) * 0.5]), step

    def append_cache(self, caches, state, step):
        assert len(caches["rows"]) == step
        return {"rows": torch.cat([caches["rows"], *state])}


@runtime_module(Recurrent)
class TorchRecurrent:
    @runtime_func
    def step(self, x, w, state):
        after = torch.add(x, state, alpha=0.5)
        return torch.matmul(after, w), after


@runtime_module(History)
class TorchHistory:
    @runtime_func
    def step(self, seen, w):
        return torch.matmul(seen, w), seen.clone()


def weights(seed: int = 0) -> DictResource:
    return DictResource({"w": torch.randn(VOCABULARY, VOCABULARY, generator=torch.Generator().manual_seed(seed))})


def both(model: Module, twin: type) -> list[object]:
    loaded, other = model.load(weights()), twin()
    other.load(weights())
    return [loaded, other]


RECURRENT, HISTORY = both(Recurrent, TorchRecurrent), both(History, TorchHistory)
MODELS = [*RECURRENT, *HISTORY]
PROMPT = [3, 1, 4]


def recurrent_by_hand(prompt: list[int], count: int) -> list[int]:
    w, state, ids = weights().load("w"), torch.zeros(1, VOCABULARY), list(prompt)
    at = 0
    while True:
        state = state * 0.5 + torch.eye(VOCABULARY)[ids[at]]
        at += 1
        if at == len(ids):
            if len(ids) == len(prompt) + count:
                return ids[len(prompt) :]
            ids.append(int((state @ w).argmax()))


def test_greedy_is_what_the_model_says_by_hand() -> None:
    for model in RECURRENT:
        assert list(generate(model, PROMPT, max_new_tokens=9)) == recurrent_by_hand(PROMPT, 9)


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(temperature=1.3, top_k=4, top_p=0.95, seed=11)])
def test_the_methods_bind_on_a_reading_and_on_its_twin_alike(sampling: Sampling) -> None:
    for loaded, twin in (RECURRENT, HISTORY):
        texts = [list(generate(m, PROMPT, max_new_tokens=12, sampling=sampling)) for m in (loaded, twin)]
        assert texts[0] == texts[1]
        assert len(texts[0]) == 12


@pytest.mark.parametrize("model", MODELS)
def test_a_seed_means_the_same_text(model: object) -> None:
    def text(seed: int) -> list[int]:
        return list(generate(model, PROMPT, max_new_tokens=16, sampling=Sampling(temperature=2.0, seed=seed)))

    assert text(5) == text(5)
    assert len({tuple(text(seed)) for seed in range(4)}) > 1


@pytest.mark.parametrize("prompt", [[3, 1, 4], (3, 1, 4), torch.tensor([3, 1, 4]), torch.tensor([3, 1, 4]).int()])
def test_a_prompt_is_a_sequence_or_a_tensor(prompt: object) -> None:
    kept = prompt.clone() if isinstance(prompt, torch.Tensor) else None
    assert list(generate(RECURRENT[0], prompt, max_new_tokens=3)) == recurrent_by_hand(PROMPT, 3)
    assert kept is None or torch.equal(kept, prompt)


def test_tokens_stream_one_step_at_a_time() -> None:
    steps = []

    class Spy(RuntimeModule):
        def prepare_inputs_for_generation(self, input_ids, step, caches, *, device):
            steps.append((step, input_ids.tolist()))
            return (step,)

        def forward(self, step):
            return torch.eye(VOCABULARY)[step % VOCABULARY]

    run = generate(Spy("spy"), [5, 5], max_new_tokens=3)
    assert steps == []
    assert run.tokens_per_second == run.prompt_tokens_per_second == 0.0
    assert next(run) == 1  # after the prompt's two steps
    assert steps == [(0, [5]), (1, [5, 5])]
    assert next(run) == 2
    assert steps[2:] == [(2, [5, 5, 1])]
    assert list(run) == [3]
    assert run.tokens == [1, 2, 3]
    assert len(steps) == 4  # the last token is not given back
    assert run.tokens_per_second == pytest.approx(2 / run.seconds)
    assert run.prompt_tokens_per_second == pytest.approx(2 / run.prompt_seconds)
    assert list(run) == []


def test_a_stop_token_ends_the_text_and_is_not_part_of_it() -> None:
    whole = recurrent_by_hand(PROMPT, 12)
    stop = whole[4]
    run = generate(RECURRENT[0], PROMPT, max_new_tokens=12, stop=[stop, 99])
    assert list(run) == whole[: whole.index(stop)]
    assert run.stop_token == stop
    assert list(run) == []
    long = generate(RECURRENT[0], PROMPT, max_new_tokens=2, stop=(99,))
    assert len(list(long)) == 2
    assert long.stop_token is None


class Scripted(RuntimeModule):
    """A model whose methods are given."""

    def __init__(self, prepare, call=lambda *_: torch.zeros(VOCABULARY), append=None) -> None:
        super().__init__("scripted")
        self._prepare, self._call = prepare, call
        if append is not None:
            self.append_cache = append

    def prepare_inputs_for_generation(self, input_ids, step, caches, *, device):
        return self._prepare(input_ids, step, caches)

    def forward(self, *acts):
        return self._call(*acts)


def test_statement_78_the_ids_are_a_1d_view() -> None:
    def prepare(ids, step, caches):
        assert ids._is_view()
        assert (ids.dtype, ids.ndim, ids.device.type) == (torch.int64, 1, "cpu")
        return (ids[step : step + 1],)

    seen = []

    def call(ids):
        seen.append(int(ids))
        return torch.eye(VOCABULARY)[2]

    assert list(generate(Scripted(prepare, call), [4], max_new_tokens=2)) == [2, 2]
    assert seen == [4, 2]  # nothing but what the model prepared: no position, no mask


@pytest.mark.parametrize("inference", [False, True])
@pytest.mark.parametrize(
    "write",
    [
        lambda ids: ids.add_(1),
        lambda ids: ids[0:1].fill_(5),
        lambda ids: ids.numpy().__setitem__(0, 5),
    ],
)
def test_statement_78_a_model_that_writes_into_the_ids_is_reported(write: object, inference: bool) -> None:
    def prepare(ids, step, caches):
        write(ids)
        return ()

    with torch.inference_mode(inference), pytest.raises(RuntimeError, match=r"step 0.*scripted.*(token ids|input_ids)"):
        next(generate(Scripted(prepare), [0, 1], max_new_tokens=1))


def test_statement_78_a_call_that_writes_into_the_ids_is_reported() -> None:
    model = Scripted(lambda ids, step, caches: (ids,), lambda ids: ids.zero_() + torch.zeros(1))
    with pytest.raises(RuntimeError, match="activation 0 was changed|input_ids was changed|wrote into the token ids"):
        next(generate(model, [1], max_new_tokens=1))


@pytest.mark.parametrize(
    "keep", [lambda ids: ids, lambda ids: ids[1:], lambda ids: ids.numpy(), lambda ids: ids.untyped_storage()]
)
def test_statement_78_a_model_that_keeps_the_ids_is_reported(keep: object) -> None:
    kept = []

    def prepare(ids, step, caches):
        kept.append(keep(ids))
        return ()

    with pytest.raises(RuntimeError, match="step 0: model 'scripted' kept the token ids(.|\n)*clone"):
        next(generate(Scripted(prepare), [0, 1], max_new_tokens=1))


def test_statement_78_caches_that_hold_the_ids_are_reported() -> None:
    model = Scripted(lambda ids, step, caches: (ids,), lambda ids: (torch.zeros(VOCABULARY), ids[:1]))
    with pytest.raises(RuntimeError, match="kept the token ids"):
        next(generate(model, [1], max_new_tokens=1))
    copied = Scripted(lambda ids, step, caches: (ids,), lambda ids: (torch.zeros(VOCABULARY), ids.clone()))
    assert next(generate(copied, [1], max_new_tokens=1)) == 0


def test_statement_78_garbage_that_waits_for_the_collector_is_not_kept() -> None:
    def prepare(ids, step, caches):
        cycle = [ids]
        cycle.append(cycle)
        return ()

    assert list(generate(Scripted(prepare), [0, 1], max_new_tokens=2)) == [0, 0]


@pytest.mark.parametrize("held", [lambda x: (x,), lambda x: [x], lambda x: {"k": (x,)}])
def test_caches_that_a_step_writes_into_are_reported(held: object) -> None:
    cache = torch.zeros(2)

    def append(caches, state, step):
        if step == 1:
            cache.add_(1)
        return held(cache)

    model = Scripted(lambda ids, step, caches: (), append=append)
    with pytest.raises(RuntimeError, match="step 1 of model 'scripted': caches was changed in place"):
        next(generate(model, [0, 0], max_new_tokens=1))


@pytest.mark.parametrize(
    ("logits", "kind", "words"),
    [
        (torch.zeros(2, 3), ValueError, r"shape \(2, 3\), expected one row"),
        (torch.zeros(()), ValueError, "expected one row"),
        (torch.zeros(0), ValueError, "expected one row"),
        (torch.zeros(3).long(), TypeError, "torch.int64, expected logits"),
        (None, TypeError, "NoneType, expected logits"),
        ((), TypeError, "tuple, expected logits"),
        (torch.tensor([0.0, torch.nan]), ValueError, "NaN or infinity"),
        (torch.tensor([0.0, torch.inf]), ValueError, "NaN or infinity"),
        (torch.full((3,), -torch.inf), ValueError, "rule out every token"),
    ],
)
def test_logits_that_choose_nothing_are_refused(logits: object, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        next(generate(Scripted(lambda *_: (), lambda: logits), [0], max_new_tokens=1))


def test_one_row_may_have_further_axes() -> None:
    for row in (torch.eye(3)[2], torch.eye(3)[2].reshape(1, 1, 3), torch.eye(3)[2].reshape(1, 3).bfloat16()):
        assert list(generate(Scripted(lambda *_: (), lambda row=row: row), [0], max_new_tokens=1)) == [2]


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"prompt": []}, ValueError, "prompt: expected at least one token id(.|\n)*BOS"),
        ({"prompt": "text"}, TypeError, "prompt: expected a sequence of token ids, got str(.|\n)*tokenize"),
        ({"prompt": 3}, TypeError, "prompt: expected a sequence"),
        ({"prompt": [1.0]}, TypeError, "prompt: expected token ids"),
        ({"prompt": [True]}, TypeError, "prompt: expected token ids"),
        ({"prompt": [-1]}, ValueError, "prompt: expected token ids of at least 0"),
        ({"prompt": torch.zeros(1, 2).long()}, TypeError, r"prompt: expected a 1-D tensor.*\(1, 2\)"),
        ({"prompt": torch.zeros(2)}, TypeError, "prompt: expected a 1-D tensor"),
        ({"max_new_tokens": 0}, ValueError, "max_new_tokens: expected at least 1"),
        ({"max_new_tokens": 2.0}, TypeError, "max_new_tokens: expected an int"),
        ({"stop": [None]}, TypeError, "stop: expected token ids"),
        ({"sampling": 0.7}, TypeError, "sampling: expected a Sampling"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(
    arguments: dict[str, object], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        generate(**{"model": RECURRENT[0], "prompt": [1], "max_new_tokens": 1, **arguments})


def test_a_model_that_prepares_nothing_is_refused() -> None:
    for model, words in ((RuntimeModule("bare"), "model 'bare' has no prepare_inputs"), (print, "has no prepare")):
        with pytest.raises(TypeError, match=words):
            generate(model, [1], max_new_tokens=1)
    with pytest.raises(TypeError, match="gave a Tensor, expected the tuple of the call's arguments"):
        next(generate(Scripted(lambda ids, step, caches: torch.ones(1)), [0], max_new_tokens=1))


def test_a_module_that_was_not_read_names_load() -> None:
    with pytest.raises(TypeError, match=r"load\(resource\)"):
        next(generate(Recurrent, [1], max_new_tokens=1))


def test_a_step_that_failed_can_be_tried_again() -> None:
    attempts = []

    def call():
        attempts.append(1)
        if len(attempts) == 2:
            raise OSError("away")
        return torch.zeros(VOCABULARY)

    run = generate(Scripted(lambda *_: (), call), [0, 0], max_new_tokens=2)
    with pytest.raises(OSError, match="away"):
        next(run)
    assert list(run) == [0, 0]
    assert len(attempts) == 4  # the prompt's first step ran once
