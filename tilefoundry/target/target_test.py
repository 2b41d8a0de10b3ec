import dataclasses
import hashlib
from dataclasses import dataclass
from pathlib import Path
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
from tilefoundry.target import document as document_module
from tilefoundry.target.document import ORIGINS, known_documents, load_document


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


# Every fact of every document that comes with the package: (value, unit, origin).
FACTS = {
    "nvidia.h200_sxm": {
        "multiprocessors": (132, "SM", "specification"),
        "memory.capacity": (141e9, "byte", "specification"),
        "memory.bandwidth": (4.8e12, "byte/s", "specification"),
        "memory.l2": (50e6, "byte", "reference"),
        "throughput.bf16": (989.5e12, "flop/s", "specification"),
        "throughput.fp8": (1979e12, "flop/s", "specification"),
        "throughput.f32": (67e12, "flop/s", "specification"),
    },
    "nvidia.sm90": {
        "compiler.arch": ("sm_90a", "", "specification"),
        "limits.threads_per_cta": (1024, "thread", "specification"),
        "limits.shared_bytes_per_cta": (232448, "byte", "specification"),
        "limits.shared_bytes_per_multiprocessor": (233472, "byte", "specification"),
        "limits.registers_per_multiprocessor": (64 * 1024, "register", "specification"),
    },
    "nvidia.b200_sxm": {
        "multiprocessors": (148, "SM", "reference"),
        "memory.capacity": (180e9, "byte", "specification"),
        "memory.bandwidth": (8e12, "byte/s", "specification"),
        "memory.l2": (126e6, "byte", "reference"),
        "throughput.bf16": (2250e12, "flop/s", "derived"),
        "throughput.fp8": (4500e12, "flop/s", "derived"),
        "throughput.f32": (75e12, "flop/s", "specification"),
    },
    "nvidia.sm100": {
        "compiler.arch": ("sm_100a", "", "specification"),
        "limits.threads_per_cta": (1024, "thread", "specification"),
        "limits.shared_bytes_per_cta": (232448, "byte", "specification"),
        "limits.shared_bytes_per_multiprocessor": (233472, "byte", "specification"),
        "limits.registers_per_multiprocessor": (64 * 1024, "register", "specification"),
    },
}
KINDS = {name: "architecture" if ".sm" in name else "device" for name in FACTS}


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_is_pinned(name):
    document = load_document(name, KINDS[name])
    assert document.id == name
    assert {path: (f.value, f.unit, f.origin) for path, f in document.facts} == FACTS[name]
    for path, fact in document.facts:
        assert fact.origin in ORIGINS
        assert len(fact.source) > 10, path


def test_every_document_is_in_the_table():
    assert {*known_documents("device"), *known_documents("architecture")} == set(FACTS)


def test_a_digest_is_that_of_the_file():
    for name, kind in KINDS.items():
        path = Path(document_module.__file__).parent / "documents" / f"{name}.toml"
        assert load_document(name, kind).digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_b200_is_a_target_too():
    target = CudaTarget("nvidia.b200_sxm")
    assert (target.arch, target.multiprocessors, target.shared_bytes_per_cta) == ("sm_100a", 148, 232448)
    assert target.architecture.id == "nvidia.sm100"
    assert target.topology_levels == ("cta", "thread")
    assert target != default_target()
    assert CudaTarget("nvidia.b200_sxm", arch="sm_100").arch == "sm_100"
    assert CudaTarget("nvidia.b200_sxm", "nvidia.sm90").arch == "sm_90a"


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: CudaTarget(90), TypeError, "id or path of a device document, got 90"),
        (lambda: CudaTarget("nvidia.sm90"), ValueError, "is of kind architecture, expected kind device"),
        (lambda: CudaTarget("missing/device.toml"), ValueError, "unknown device"),
        (
            lambda: CudaTarget("nvidia.h200_sxm", "nvidia.h200_sxm"),
            ValueError,
            "is of kind device, expected kind architecture",
        ),
        (lambda: CudaTarget("nvidia.h200_sxm", arch=90), TypeError, "arch must be a string"),
        (lambda: default_target().device.fact("memory.l3"), ValueError, r"states no 'memory.l3'(.|\n)*memory.l2"),
        (lambda: default_target().architecture.number("compiler.arch"), TypeError, "expected a number"),
    ],
)
def test_what_names_no_document_is_refused(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


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
        ('id = "x"\nkind = "architecture"\n', "expected kind device"),
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
    assert [CpuTarget(isa).isa for isa in CpuTarget.ISAS] == ["x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"]
    assert CpuTarget().topology_levels == ("cta", "thread")
    with pytest.raises(ValueError, match="x86-64-v4"):
        CpuTarget("native")
    with pytest.raises(TypeError):
        CpuTarget(3)


@pytest.mark.parametrize(
    ("machine", "isa"),
    [("x86_64", "x86-64-v3"), ("AMD64", "x86-64-v3"), ("aarch64", "aarch64"), ("arm64", "aarch64")],
)
def test_a_family_of_cpus_has_one_default(machine, isa, monkeypatch):
    assert CpuTarget.default(machine) == CpuTarget(isa)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert CpuTarget.default() == CpuTarget(isa)
    assert CpuTarget.default().family == ("aarch64" if isa == "aarch64" else "x86-64")
    with pytest.raises(ValueError, match=r"'riscv64'(.|\n)*x86_64, amd64, aarch64"):
        CpuTarget.default("riscv64")


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
        ((Level("cta", 0),), r"(?s)at least 1.*help: give it the units"),
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
