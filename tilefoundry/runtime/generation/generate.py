"""The loop around a causal language model: it owns the token ids and the caches, and nothing else.

Everything that depends on the model is the model's: positions, rotary tables, masks and the form of its caches come
from its own methods, which are the same on a `LoadedModule` and on its twin (runtime spec, 1.1.2).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef

from tilefoundry.diagnostics import TileFoundryError, WrongTypeError, WrongValueError
from tilefoundry.runtime.generation.sampling import Sampling, draw
from tilefoundry.runtime.mutation import MutatedArgumentError, Unchanged


class RetainedTokensError(TileFoundryError, RuntimeError):
    """A model kept the token ids beyond the step that they were given for."""


def generate(
    model: object,
    prompt: Sequence[int] | Tensor,
    *,
    max_new_tokens: int,
    sampling: Sampling | None = None,
    stop: Sequence[int] = (),
    device: torch.device | str = "cpu",
) -> Generation:
    """Continues a prompt, one token at a time.

    The model is a `LoadedModule`, its twin, or anything else that is callable and has these methods:

    - ``prepare_inputs_for_generation(input_ids, step, caches, *, device)`` gives the positional arguments of a call.
      `input_ids` (step + 1,) i64 on the CPU is a view of all tokens so far, for this step alone; the model takes the
      token at `step`.
    - The call returns logits, of which the last axis is the vocabulary and all others are 1; or a tuple of them and of
      the step's state.
    - ``init_caches(steps, *, device)`` gives the caches before the first of at most `steps` steps. Without it they
      are ``()``.
    - ``append_cache(caches, state, step)`` gives the next caches; `state` is the tuple of what the call returned after
      the logits. Without it, `state` itself is the next caches, where there is any.

    Args:
        prompt: token ids, at least one.
        max_new_tokens: how many tokens are made at most.
        sampling: how a token is chosen; greedily by default.
        stop: token ids that end the text. The one that does is not part of it.
        device: passed on to the model's methods; where the model's weights are.

    Returns:
        An iterator over the new tokens, which runs a step whenever it is asked for one.

    Raises:
        WrongTypeError: the model lacks a method or a call gives no logits; an argument has the wrong type.
        WrongValueError: an argument is out of range; logits hold NaN or no finite maximum.
        MutatedArgumentError: a method or the call wrote into the token ids or into the caches.
        RetainedTokensError: the model kept the token ids.
    """
    if not callable(model) or not hasattr(model, "prepare_inputs_for_generation"):
        raise WrongTypeError(
            f"generate: {_named(model)} has no prepare_inputs_for_generation(input_ids, step, caches, *, device)",
            remedy="define it in the Module's class body",
        )
    if type(max_new_tokens) is not int:
        raise WrongTypeError(f"max_new_tokens: expected an int, got {max_new_tokens!r}")
    if max_new_tokens < 1:
        raise WrongValueError(f"max_new_tokens: expected at least 1, got {max_new_tokens}")
    chosen = Sampling() if sampling is None else sampling
    if not isinstance(chosen, Sampling):
        raise WrongTypeError(f"sampling: expected a Sampling, got {type(chosen).__name__}")
    return Generation(
        model, _tokens("prompt", prompt), max_new_tokens, chosen, _tokens("stop", stop), torch.device(device)
    )


class Generation(Iterator[int]):
    """A text that is being made: iterate over its new tokens. Made by `generate`.

    Attributes:
        tokens: the new tokens so far.
        stop_token: the stop token that ended the text; None while it goes on, or when it ended by its length.
        prompt_seconds: what the steps of the prompt took.
        seconds: what the steps after them took.
    """

    def __init__(
        self,
        model: object,
        prompt: list[int],
        max_new_tokens: int,
        sampling: Sampling,
        stop: list[int],
        device: torch.device,
    ) -> None:
        if not prompt:
            raise WrongValueError("prompt: expected at least one token id", remedy="begin with the model's BOS token")
        self.tokens: list[int] = []
        self.stop_token: int | None = None
        self.prompt_seconds = 0.0
        self.seconds = 0.0
        self._model = model
        self._prompt = prompt
        self._limit = max_new_tokens
        self._sampling = sampling
        self._stop = frozenset(stop)
        self._device = device
        self._random = torch.Generator().manual_seed(sampling.seed)
        self._step = 0
        self._caches: object = ()

    @property
    def tokens_per_second(self) -> float:
        """Steps per second, those of the prompt left out; 0 before the first of them."""
        return (self._step - len(self._prompt)) / self.seconds if self.seconds else 0.0

    @property
    def prompt_tokens_per_second(self) -> float:
        """Prompt tokens per second; 0 before the first token."""
        return len(self._prompt) / self.prompt_seconds if self.prompt_seconds else 0.0

    def __next__(self) -> int:
        if self.stop_token is not None or len(self.tokens) == self._limit:
            raise StopIteration
        began = time.perf_counter()
        first = self._step == 0
        if first and hasattr(self._model, "init_caches"):
            steps = len(self._prompt) + self._limit - 1  # the last token is not given back to the model
            self._caches = self._model.init_caches(steps, device=self._device)
        ids = self._prompt + self.tokens
        while self._step < len(ids):
            logits, self._caches = self._run(ids[: self._step + 1])
            self._step += 1
        token = draw(logits, self._sampling, self._random)
        took = time.perf_counter() - began
        if first:
            self.prompt_seconds += took
        else:
            self.seconds += took
        if token in self._stop:
            self.stop_token = token
            raise StopIteration
        self.tokens.append(token)
        return token

    def _run(self, ids: list[int]) -> tuple[Tensor, object]:
        """The logits after the last of `ids`, and the next caches."""
        step = len(ids) - 1
        memory = torch.tensor(ids)
        freed: Callable[[], bool] = StorageWeakRef(memory.untyped_storage()).expired  # type: ignore[no-untyped-call]
        try:
            result = self._call(memory, step)
        finally:
            written = memory.tolist() != ids  # also what no version counter saw
            del memory
        if written:
            raise MutatedArgumentError(
                f"step {step}: {_named(self._model)} wrote into the token ids", remedy="write into a copy"
            )
        if not freed():
            gc.collect()  # a reference that only waits for the collector keeps nothing
        if not freed():
            raise RetainedTokensError(
                f"step {step}: {_named(self._model)} kept the token ids, or a view of them, beyond the step",
                remedy="copy what is needed later: input_ids[i].clone(), or int(input_ids[i])",
            )
        return result

    def _call(self, memory: Tensor, step: int) -> tuple[Tensor, object]:
        model, caches = self._model, self._caches
        with Unchanged(f"step {step} of {_named(model)}", {"input_ids": memory, "caches": caches}):
            prepared = model.prepare_inputs_for_generation(  # type: ignore[attr-defined]  # generate() looked
                memory[: step + 1], step, caches, device=self._device
            )
            if not isinstance(prepared, tuple):
                raise WrongTypeError(
                    f"step {step}: prepare_inputs_for_generation of {_named(model)} gave a {type(prepared).__name__}, "
                    f"expected the tuple of the call's arguments"
                )
            made = model(*prepared)  # type: ignore[operator]
            logits, *state = made if isinstance(made, tuple) and made else (made,)
            row = _row(logits, f"step {step} of {_named(model)}")
            if hasattr(model, "append_cache"):
                return row, model.append_cache(caches, tuple(state), step)
            return row, tuple(state) if state else caches


def _row(logits: object, what: str) -> Tensor:
    """Logits as (vocabulary,)."""
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        shown = str(logits.dtype) if isinstance(logits, Tensor) else type(logits).__name__
        raise WrongTypeError(f"{what} gave {shown}, expected logits (a floating-point tensor) first")
    if logits.ndim == 0 or logits.numel() != logits.shape[-1] or not logits.numel():
        raise WrongValueError(
            f"{what} gave logits of shape {tuple(logits.shape)}, expected one row: (vocabulary,) or (1, 1, vocabulary)"
        )
    row = logits.reshape(-1)
    if not bool(row.max().isfinite()):
        raise WrongValueError(f"{what} gave logits that hold NaN or infinity, or rule out every token")
    return row


def _tokens(name: str, value: Sequence[int] | Tensor) -> list[int]:
    if isinstance(value, Tensor):
        if value.ndim != 1 or value.dtype not in (torch.int64, torch.int32):
            raise WrongTypeError(
                f"{name}: expected a 1-D tensor of i64 or i32, got {value.dtype} of shape {tuple(value.shape)}"
            )
        value = value.tolist()
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise WrongTypeError(
            f"{name}: expected a sequence of token ids, got {type(value).__name__}", remedy="tokenize the text first"
        )
    for token in value:
        if type(token) is not int:
            raise WrongTypeError(f"{name}: expected token ids (int), got {token!r}")
        if token < 0:
            raise WrongValueError(f"{name}: expected token ids of at least 0, got {token}")
    return list(value)


def _named(model: object) -> str:
    name = getattr(model, "name", None)
    return f"model '{name}'" if isinstance(name, str) else f"the {type(model).__name__}"
