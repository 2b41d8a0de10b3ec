"""Checkpoint directories: statements 50-55 of the runtime contract, and the reports behind them."""

from __future__ import annotations

import builtins
import json
import math
import os
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from tilefoundry.runtime.resource import CheckpointFormatError, ResourceError, SafetensorsResource

A, B = torch.arange(6.0).reshape(2, 3), torch.arange(4, dtype=torch.bfloat16)


def write_index(directory: Path, weight_map: object, **extra: object) -> None:
    (directory / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map, **extra}))


def sharded(directory: Path) -> Path:
    save_file({"m.a": A}, directory / "model-00001-of-00002.safetensors")
    save_file({"m.b": B}, directory / "model-00002-of-00002.safetensors")
    write_index(directory, {f"m.{k}": f"model-0000{i}-of-00002.safetensors" for i, k in ((1, "a"), (2, "b"))})
    return directory


def shard_bytes(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype: str = "F32", shape: list[Any] | None = None, offsets: tuple[int, int] = (0, 4)) -> dict[str, object]:
    return {"dtype": dtype, "shape": [1] if shape is None else shape, "data_offsets": list(offsets)}


def test_50_a_single_file_is_its_own_index(tmp_path: Path) -> None:
    save_file({"a": A}, tmp_path / "model.safetensors")
    assert torch.equal(SafetensorsResource(tmp_path, device="cpu").load("a"), A)


def test_50_neither_names_both(tmp_path: Path) -> None:
    save_file({"a": A}, tmp_path / "weights.safetensors")
    with pytest.raises(
        FileNotFoundError, match=r"neither model.safetensors.index.json nor model.safetensors; it holds w"
    ):
        SafetensorsResource(tmp_path, device="cpu")
    with pytest.raises(FileNotFoundError):
        SafetensorsResource(tmp_path / "nowhere", device="cpu")


def test_50_the_index_wins_over_an_unsharded_file_with_a_warning(tmp_path: Path) -> None:
    sharded(tmp_path)
    save_file({"m.a": A + 1}, tmp_path / "model.safetensors")
    with pytest.warns(UserWarning, match="is ignored"):
        resource = SafetensorsResource(tmp_path, device="cpu")
    assert torch.equal(resource.load("m.a"), A)


def test_50_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_file({"a": A}, tmp_path / "model.safetensors")
    placed: list[object] = []

    def place(tensor: Tensor, device: object) -> Tensor:
        placed.append(device)
        return tensor

    monkeypatch.setattr(Tensor, "to", place)
    SafetensorsResource(tmp_path).load("a")
    SafetensorsResource(tmp_path, device="cuda:2").load("a")
    # torch itself resolves a device without an index to the current one, at the time of the call.
    assert placed == [torch.device("cuda"), torch.device("cuda:2")]


def test_51_one_index_read_and_one_open_per_shard_for_all_views(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sharded(tmp_path)
    reads: list[str] = []

    def open_shard(path: Path, **options: str) -> object:
        reads.append(path.name)
        return safe_open(path, **options)

    def read_index(path: Path) -> bytes:
        reads.append(path.name)
        with path.open("rb") as file:
            return file.read()

    monkeypatch.setattr(f"{SafetensorsResource.__module__}.safe_open", open_shard)
    monkeypatch.setattr(Path, "read_bytes", read_index)
    before = len(os.listdir("/proc/self/fd"))
    with SafetensorsResource(tmp_path, device="cpu") as resource:
        views = [resource.subtree("m") for _ in range(100)]
        for view in views:
            assert torch.equal(view.load("a"), A)
            assert torch.equal(view.load("b"), B)
        kept = views[0].load("a")
    assert sorted(reads) == [
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
        "model.safetensors.index.json",
    ]
    assert len(os.listdir("/proc/self/fd")) == before
    assert torch.equal(kept, A)
    with pytest.raises(ValueError, match="is closed"):
        views[0].load("a")


def test_51_cpu_tensors_are_views_of_the_file(tmp_path: Path) -> None:
    save_file({"a": A, "b": torch.zeros(1 << 20)}, tmp_path / "model.safetensors")
    with SafetensorsResource(tmp_path, device="cpu") as resource:
        first, again = resource.load("b"), resource.load("b")
    assert first.data_ptr() == again.data_ptr()


@pytest.mark.parametrize(
    "shard", ["/etc/x.safetensors", "../x.safetensors", "a/../../x.safetensors", "a/..", "", "C:\\x"]
)
def test_52_a_shard_outside_the_directory_is_refused_before_any_open(
    tmp_path: Path, shard: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_index(tmp_path, {"w": shard})
    monkeypatch.setattr(builtins, "open", lambda *a, **k: pytest.fail("a file was opened"))
    with pytest.raises(CheckpointFormatError) as caught:
        SafetensorsResource(tmp_path, device="cpu")
    for named in ("'w'", repr(shard), str(tmp_path)):
        assert named in str(caught.value)


def test_52_nested_shards_and_links_inside_the_directory_are_followed(tmp_path: Path) -> None:
    store, checkpoint = tmp_path / "blobs", tmp_path / "snapshot"
    (checkpoint / "sub").mkdir(parents=True)
    store.mkdir()
    save_file({"a": A}, store / "blob")
    save_file({"b": B}, checkpoint / "sub/x.safetensors")
    (checkpoint / "link.safetensors").symlink_to(store / "blob")
    write_index(checkpoint, {"a": "link.safetensors", "b": "sub/x.safetensors"})
    resource = SafetensorsResource(checkpoint, device="cpu")
    assert torch.equal(resource.load("a"), A)
    assert torch.equal(resource.load("b"), B)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "Expecting"),
        ("[]", "expected an object, got a list"),
        ('{"metadata": {}}', "no weight_map"),
        ('{"weight_map": ["a"]}', "weight_map must be an object, got a list"),
        ('{"weight_map": {"a": 3}}', r"weight_map\['a'\] must be a file name, got 3"),
        ('{"weight_map": {"a": "x", "a": "y"}}', "duplicate key 'a'"),
        ("[" * 100_000, "malformed"),
        ('{"weight_map": 1' + "0" * 5000 + "}", "malformed"),
        ("\udcff", "malformed"),
    ],
)
def test_53_a_malformed_index_says_so(tmp_path: Path, text: str, fault: str) -> None:
    index = tmp_path / "model.safetensors.index.json"
    index.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=fault) as caught:
        SafetensorsResource(tmp_path, device="cpu")
    assert f"index {index} is malformed" in str(caught.value)


def test_53_a_promise_that_the_shard_does_not_keep(tmp_path: Path) -> None:
    save_file({"a": A}, tmp_path / "s1.safetensors")
    write_index(tmp_path, {"a": "s1.safetensors", "aa": "s1.safetensors", "c": "s2.safetensors"})
    resource = SafetensorsResource(tmp_path, device="cpu")
    assert torch.equal(resource.load("a"), A)
    with pytest.raises(KeyError) as caught:
        resource.load("aa")
    assert str(caught.value) == (
        f"index {tmp_path}/model.safetensors.index.json promises tensor 'aa' in shard {tmp_path}/s1.safetensors, "
        "which does not hold it; close matches: 'a'"
    )
    with pytest.raises(FileNotFoundError, match=r"names shard .*s2.safetensors, which is not there"):
        resource.load("c")


def test_53_tensors_that_the_index_omits_are_reported(tmp_path: Path) -> None:
    save_file({"a": A, "x": B}, tmp_path / "s.safetensors")
    write_index(tmp_path, {"a": "s.safetensors", "y": "s.safetensors"})
    resource = SafetensorsResource(tmp_path, device="cpu")
    with pytest.warns(UserWarning, match="holds tensors that index .* omits: 'x'"):
        resource.load("a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resource.load("a")
    with pytest.raises(
        KeyError, match=r"promised but not held: 'y' \(in s.safetensors\); held but not in the index: 'x'"
    ):
        resource.verify()


BAD_SHARDS: dict[str, tuple[bytes, str]] = {
    "no length": (b"\1\2", "truncated"),
    "length beyond the file": (shard_bytes({})[:-1], "states a header of"),
    "length of an exabyte": ((2**60).to_bytes(8, "little") + b"{}", "states a header of 1152921504606846976 bytes"),
    "not JSON": (shard_bytes(b"{]"), "malformed"),
    "not an object": (shard_bytes([]), "no JSON object"),
    "metadata": (shard_bytes({"__metadata__": {"a": 1}}), "__metadata__"),
    "no dtype": (shard_bytes({"a": {"shape": []}}), "tensor 'a' must be described by"),
    "unknown dtype": (shard_bytes({"a": entry("F6_E2M3")}, b"1234"), "tensor 'a' has dtype 'F6_E2M3'; supported are"),
    "negative extent": (shard_bytes({"a": entry(shape=[-1])}, b"1234"), "no list of extents"),
    "boolean extent": (shard_bytes({"a": entry(shape=[True])}, b"1234"), "no list of extents"),
    "product overflows": (shard_bytes({"a": entry(shape=[2**62, 2**62])}, b"1234"), "tensor 'a' needs"),
    "size differs": (shard_bytes({"a": entry(shape=[2])}, b"1234"), "needs 64 bits"),
    "reversed": (shard_bytes({"a": entry(offsets=(4, 0))}, b"1234"), r"no \[begin, end\]"),
    "truncated data": (shard_bytes({"a": entry()}, b"12"), "tensor 'a' ends at byte 4 of 2: the file is truncated"),
    "trailing bytes": (shard_bytes({"a": entry()}, b"12345"), "1 bytes after the last tensor"),
    "overlap": (
        shard_bytes({"a": entry(), "b": entry(offsets=(2, 6))}, b"123456"),
        "'b' begins at byte 2 and overlaps",
    ),
    "hole": (shard_bytes({"a": entry(), "b": entry(offsets=(6, 10))}, b"1" * 10), "'b' .* leaves a hole of 2 bytes"),
    "duplicate": (shard_bytes(b'{"a": 1, "a": 2}'), "duplicate key 'a'"),
}


@pytest.mark.parametrize("case", BAD_SHARDS)
def test_54_an_inconsistent_shard_is_refused_with_its_path(tmp_path: Path, case: str) -> None:
    content, fault = BAD_SHARDS[case]
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=fault) as caught:
        SafetensorsResource(tmp_path, device="cpu")
    assert f"shard {path}" in str(caught.value)


@pytest.mark.parametrize("header", [{}, {"__metadata__": {}}, {"__metadata__": {"format": "pt"}}])
def test_54_a_shard_without_tensors_is_an_empty_checkpoint(tmp_path: Path, header: dict[str, object]) -> None:
    (tmp_path / "model.safetensors").write_bytes(shard_bytes(header))
    with pytest.raises(KeyError, match="no tensor 'a'"):
        SafetensorsResource(tmp_path, device="cpu").load("a")


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 120), st.binary(min_size=1, max_size=4))
def test_54_damaged_bytes_never_crash(tmp_path: Path, at: int, damage: bytes) -> None:
    good = shard_bytes({"a": entry(), "b": entry("BF16", [2], (4, 8))}, b"12345678")
    content = good[:at] + damage + good[at + len(damage) :]
    (tmp_path / "model.safetensors").write_bytes(content)
    try:
        with SafetensorsResource(tmp_path, device="cpu") as resource:
            resource.load("a")
    except ResourceError:
        pass  # refused by name; anything else is a failure of this test


DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e8m0fnu,
    torch.bool,
    torch.uint8,
    torch.int64,
    torch.uint64,
]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(DTYPES), st.lists(st.integers(0, 3), max_size=3), st.integers(0, 2**31)),
        min_size=1,
        max_size=4,
    )
)
def test_55_every_dtype_and_shape_round_trips_bit_for_bit(
    tmp_path: Path, specs: list[tuple[Any, list[int], int]]
) -> None:
    tensors = {}
    for i, (dtype, shape, seed) in enumerate(specs):
        generator = torch.Generator().manual_seed(seed)
        high = 2 if dtype == torch.bool else 256
        count = math.prod(shape) * dtype.itemsize
        raw = torch.randint(0, high, (count,), dtype=torch.uint8, generator=generator)
        tensors[f"t{i}"] = raw.view(dtype).reshape(shape)
    save_file(tensors, tmp_path / "model.safetensors")
    with SafetensorsResource(tmp_path, device="cpu") as resource:
        for name, tensor in tensors.items():
            back = resource.load(name)
            assert (back.dtype, back.shape) == (tensor.dtype, tensor.shape)
            assert back.reshape(-1).view(torch.uint8).tolist() == tensor.reshape(-1).view(torch.uint8).tolist()
