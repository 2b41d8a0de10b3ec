import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import pytest

from tilefoundry.target import (
    CpuTarget,
    CudaTarget,
    Target,
    default_target,
    register_target,
    target_class,
    target_names,
    validate_program_topology,
)


@dataclass(frozen=True)
class Level:
    name: str
    size: object


LEAF = 'value = {value}\nunit = "SM"\norigin = "measured"\nsource = "test"\nconditions = ""\n'


def device_file(tmp_path, text):
    path = tmp_path / "device.toml"
    path.write_text(text)
    return str(path)


def test_default_is_an_h200():
    target = default_target()
    assert target == CudaTarget("nvidia.h200_sxm")
    assert (target.name, target.arch, target.multiprocessors) == ("cuda", "sm_90a", 132)
    assert target.topology_levels == ("cta", "thread")
    assert target.shared_bytes_per_cta == 232448


@pytest.mark.parametrize(
    ("path", "value", "unit"),
    [
        ("memory.capacity", 141e9, "byte"),
        ("memory.bandwidth", 4.8e12, "byte/s"),
        ("memory.l2", 50e6, "byte"),
        ("throughput.bf16", 989.5e12, "flop/s"),
        ("throughput.fp8", 1979e12, "flop/s"),
        ("throughput.f32", 67e12, "flop/s"),
    ],
)
def test_device_facts_state_value_and_unit(path, value, unit):
    fact = default_target().device.fact(path)
    assert (fact.value, fact.unit) == (value, unit)
    assert fact.source


def test_architecture_limits():
    limits = {path: fact.value for path, fact in default_target().architecture.facts}
    assert limits["limits.threads_per_cta"] == 1024
    assert limits["limits.shared_bytes_per_multiprocessor"] == 233472
    assert limits["limits.registers_per_multiprocessor"] == 65536


def test_canonical_text_depends_on_everything_that_code_depends_on(tmp_path):
    head = 'id = "{id}"\nkind = "device"\ncompatible = "nvidia.sm90"\n[multiprocessors]\n' + LEAF
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = CudaTarget(device_file(tmp_path / "a", head.format(id="mine", value=78)))
    two = CudaTarget(device_file(tmp_path / "b", head.format(id="mine", value=80)))
    texts = {
        t.canonical_text()
        for t in (default_target(), CudaTarget(arch="sm_80"), one, two, CpuTarget(), CpuTarget("x86-64-v2"))
    }
    assert len(texts) == 6
    assert str(tmp_path) not in one.canonical_text()


def test_a_toml_path_and_a_document_serve_as_device(tmp_path):
    text = 'id = "mine"\nkind = "device"\ncompatible = "nvidia.sm90"\n[multiprocessors]\n' + LEAF.format(value=78)
    target = CudaTarget(device_file(tmp_path, text))
    assert target.multiprocessors == 78
    assert CudaTarget(target.device, target.architecture) == target


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('id = "x"\nkind = "planet"\n', "kind"),
        ('id = "x"\nkind = "device"\n[a]\nvalue = 1\n', "expected exactly"),
        ('id = "x"\nkind = "device"\na = 3\n', "bare value"),
        ('id = "x"\nkind = "device"\n[a]\n' + LEAF.format(value=1).replace("measured", "guessed"), "origin"),
        ('id = "x"\nkind = "architecture"\n', "expected a device"),
        ('id = "x"\nkind = "device"\n', "no compatible architecture"),
        ("id = [", "not a TOML document"),
    ],
)
def test_malformed_documents_are_refused(tmp_path, text, words):
    with pytest.raises(ValueError, match=words):
        CudaTarget(device_file(tmp_path, text))


def test_unknown_device_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"nvidia\.h200_sxm"):
        CudaTarget("nvidia.gtx_580")


@pytest.mark.parametrize("arch", ["90a", "sm_9", "native", "sm_90a -O0"])
def test_malformed_arch_is_refused(arch):
    with pytest.raises(ValueError, match="arch must look like"):
        CudaTarget(arch=arch)


def test_cpu_never_means_the_machine_at_hand():
    assert CpuTarget().canonical_text() == "cpu isa=x86-64-v3"
    with pytest.raises(ValueError, match="x86-64-v4"):
        CpuTarget("native")
    with pytest.raises(TypeError):
        CpuTarget(3)


def test_targets_are_values():
    with pytest.raises(dataclasses.FrozenInstanceError):
        default_target().arch = "sm_80"
    assert hash(default_target()) == hash(CudaTarget())


@pytest.mark.parametrize("target", [CudaTarget(), CpuTarget()])
def test_topologies_are_held_against_the_limits(target):
    good = (Level("cta", "G"), Level("thread", 1024))
    validate_program_topology(good, target)
    for bad, words in (
        ((Level("warp", 4),), "no topology level 'warp'"),
        ((Level("thread", 1025),), "limit 1024"),
        ((Level("cta", 0),), "at least 1"),
        ((Level("thread", "T"),), "static extent"),
        ((Level("thread", 4), Level("cta", 4)), "ordered"),
        ((Level("cta", 4), Level("cta", 4)), "distinct"),
    ):
        with pytest.raises(ValueError, match=words):
            validate_program_topology(bad, target)


def test_registry():
    assert target_names() == ("cpu", "cuda")
    assert target_class("cuda") is CudaTarget
    with pytest.raises(ValueError, match="unknown target"):
        target_class("tpu")
    with pytest.raises(TypeError, match="name"):
        register_target(type("Nameless", (Target,), {}))

    class Again(Target):
        name: ClassVar[str] = "cuda"

    with pytest.raises(ValueError, match="taken"):
        register_target(Again)
