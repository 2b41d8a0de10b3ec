"""Checkpoints that nobody wrote on purpose: no crash, no read outside of the directory, no large allocation.

Every example runs under a limit of the address space, so that memory asked for by an unchecked length fails at once.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from tilefoundry.diagnostics import TileFoundryError
from tilefoundry.runtime import SafetensorsResource
from tilefoundry.runtime.resource.index import INDEX_NAME, SINGLE_NAME

HEADROOM = 256 << 20
FUZZ = settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
SIZES = {"F32": 4, "BF16": 2, "I64": 8, "U8": 1, "BOOL": 1, "F8_E4M3": 1}
SECRET = 7777.0
# What Python opens: filled while a test watches (an audit hook cannot be removed).
OPENED: list[str] | None = None


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and OPENED is not None and isinstance(arguments[0], (str, bytes)):
        OPENED.append(str(arguments[0]))


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def _limited_memory() -> Iterator[None]:
    torch.ones(8).sum()  # what torch sets up on first use is in use already
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + HEADROOM, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory beside which lies what must not be read."""
    (tmp_path / "secret.safetensors").write_bytes(shard({"a": ("F32", [1])}, torch.tensor([SECRET]).numpy().tobytes()))
    inside = tmp_path / "inside"
    inside.mkdir()
    return inside


def emptied(folder: Path) -> Path:
    """The directory without what the example before left there."""
    shutil.rmtree(folder)
    folder.mkdir()
    return folder


def shard(tensors: dict[str, tuple[str, list[int]]], data: bytes) -> bytes:
    """A well-formed file."""
    header, at = {}, 0
    for name, (dtype, shape) in tensors.items():
        size = SIZES[dtype]
        for extent in shape:
            size *= extent
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


NAMES = st.sampled_from(["a", "b", "c.w", "", "__metadata__"])
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["F32", "F4", "I64", "dtype", 2**63 - 1, 2**62, -1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
SHAPES = st.lists(st.integers(0, 4), max_size=3)
TENSORS = st.dictionaries(
    st.sampled_from(["a", "b", "c.w"]), st.tuples(st.sampled_from(list(SIZES)), SHAPES), max_size=3
)


def replaced(draw: st.DrawFn, value: object) -> object:
    """A JSON value in which one node is another value, is missing, or is there as it was."""
    if isinstance(value, (dict, list)) and value and draw(st.integers(0, 4)):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = draw(st.sampled_from(keys))
        changed = dict(value) if isinstance(value, dict) else list(value)
        if draw(st.integers(0, 5)):
            changed[key] = replaced(draw, value[key])
        else:
            del changed[key]
        return changed
    return draw(VALUES)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """A file that is well formed but for one fault of some kind, or for none."""
    tensors = draw(TENSORS)
    size = sum(SIZES[dtype] * (torch.Size(shape).numel() if shape else 1) for dtype, shape in tensors.values())
    file = shard(tensors, draw(st.binary(min_size=size, max_size=size)))
    length = int.from_bytes(file[:8], "little")
    match draw(st.sampled_from(["none", "header", "length", "truncated", "trailing", "bytes", "noise"])):
        case "header":
            text = json.dumps(replaced(draw, json.loads(file[8 : 8 + length]))).encode()
            return len(text).to_bytes(8, "little") + text + file[8 + length :]
        case "length":
            other = draw(st.integers(0, 2**64 - 1) | st.integers(0, 2 * length) | st.sampled_from([10**8, 2**63]))
            return other.to_bytes(8, "little") + file[8:]
        case "truncated":
            return file[: draw(st.integers(0, len(file)))]
        case "trailing":
            return file + draw(st.binary(min_size=1, max_size=9))
        case "bytes":
            at = draw(st.integers(0, len(file) - 1))
            return file[:at] + draw(st.binary(min_size=1, max_size=3)) + file[at + 1 :]
        case "noise":
            return draw(st.binary(max_size=64))
    return file


def stored(file: bytes, name: str) -> bytes:
    """What the header, read once more by the plainest means, says that the tensor's bytes are."""
    length = int.from_bytes(file[:8], "little")
    begin, end = json.loads(file[8 : 8 + length])[name]["data_offsets"]
    return file[8 + length + begin : 8 + length + end]


def bits(tensor: Tensor) -> bytes:
    return bytes(tensor.contiguous().reshape(-1).view(torch.uint8).tolist())


@FUZZ
@given(files())
def test_a_shard_is_read_as_its_header_says_or_refused(folder: Path, file: bytes) -> None:
    (emptied(folder) / SINGLE_NAME).write_bytes(file)
    refused = None
    try:
        checkpoint = SafetensorsResource(folder, device="cpu")
    except TileFoundryError as error:
        refused = str(error)
    if refused is not None:
        assert str(folder) in refused
        return
    with checkpoint:
        checkpoint.verify()
        for name in ("a", "b", "c.w", ""):
            try:
                tensor = checkpoint.load(name)
            except TileFoundryError:
                continue
            assert bits(tensor) == stored(file, name)


PATHS = st.sampled_from(
    [
        "../secret.safetensors",
        "/secret.safetensors",
        "sub/../../secret.safetensors",
        "./../secret.safetensors",
        "..\\secret.safetensors",
        "C:secret.safetensors",
        "~/secret.safetensors",
        "one.safetensors",
        "sub/two.safetensors",
        ".",
        "..",
        "sub",
        "",
        "\0",
        "one.safetensors\0../secret.safetensors",
        "a" * 5000,
        "%2e%2e/secret.safetensors",
    ]
)
MAPS = st.dictionaries(st.sampled_from(["a", "b", "c.w"]), PATHS | st.text(max_size=4), max_size=3)


@st.composite
def indices(draw: st.DrawFn) -> bytes:
    """An index file: a map to shards, with a fault of some kind or none."""
    document: object = {"metadata": {"total_size": draw(st.integers(0, 9))}, "weight_map": draw(MAPS)}
    match draw(st.sampled_from(["none", "none", "replaced", "noise", "cut", "deep"])):
        case "replaced":
            document = replaced(draw, document)
        case "noise":
            return draw(st.binary(max_size=40))
        case "cut":
            text = json.dumps(document).encode()
            return text[: draw(st.integers(0, len(text)))]
        case "deep":
            return b'{"weight_map": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    return json.dumps(document).encode()


@FUZZ
@given(indices(), files())
def test_an_index_leads_nowhere_but_into_its_directory(folder: Path, index: bytes, file: bytes) -> None:
    global OPENED
    emptied(folder)
    (folder / "sub").mkdir()
    (folder / "one.safetensors").write_bytes(shard({"a": ("F32", [1])}, bytes(4)))
    (folder / "sub" / "two.safetensors").write_bytes(file)
    (folder / INDEX_NAME).write_bytes(index)
    OPENED, refused = [], str(folder)
    try:
        with warnings.catch_warnings(), SafetensorsResource(folder, device="cpu") as checkpoint:
            warnings.simplefilter("ignore")  # of tensors that the index omits
            for name in ("a", "b", "c.w"):
                try:
                    tensor = checkpoint.load(name)
                except TileFoundryError:
                    continue
                assert tensor.numel() != 1 or tensor.dtype != torch.float32 or float(tensor.reshape(())) != SECRET
    except TileFoundryError as error:
        refused = str(error)
    finally:
        opened, OPENED = OPENED, None
    assert str(folder) in refused
    assert [path for path in opened if "secret" in path] == []
    assert all(Path(path).is_relative_to(folder) for path in opened if path.startswith(str(folder.parent)))


def test_the_limit_is_one() -> None:
    """An allocation of the size that a lying header states does fail here."""
    with pytest.raises(MemoryError):
        bytearray(2 * HEADROOM)
