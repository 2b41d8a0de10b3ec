"""The bundle's runner over CPU libraries, and the archive's bytes."""

from __future__ import annotations

import io
import os
import re
import tarfile
from pathlib import Path

import pytest
import torch

import tilefoundry
from examples.attention.program import attention_module
from examples.native.program import KERNELS
from tilefoundry import CompilerOptions
from tilefoundry.driver.kernel_main import main as kernel_main
from tilefoundry.driver.keys import module_key
from tilefoundry.target import CudaTarget
from tools.device_bundle import programs
from tools.device_bundle.compiled import Outcome, run_compiled
from tools.device_bundle.correctness import VIEWS, judge
from tools.device_bundle.device_programs import find_sanitizer
from tools.device_bundle.kernels import AttentionLibrary
from tools.device_bundle.keys import Keys, judge_keys
from tools.device_bundle.main import main
from tools.device_bundle.pack import pack
from tools.device_bundle.programs import Variant, variant_of
from tools.device_bundle.rows import judge_rows

CPU = torch.device("cpu")


def library(head_dim: int, dtype: str, causal: bool, kernel: object) -> AttentionLibrary:
    return AttentionLibrary("attention", Variant(head_dim, dtype, causal), kernel)  # type: ignore[arg-type]


def script(path: Path, commands: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{commands}\n")
    path.chmod(0o755)


def wrong(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    return out.copy_(v)


@pytest.mark.parametrize(("dtype", "causal"), [("f32", False), ("bf16", True)])
def test_a_right_kernel_passes_every_view(dtype: str, causal: bool) -> None:
    kernel = tilefoundry.jit(attention_module(32, dtype, causal), target="cpu")
    verdict = judge(library(32, dtype, causal, kernel), CPU, (1, 65))
    assert verdict.failures == ()
    assert verdict.cases == 2 * len(VIEWS)
    assert 0 < verdict.worst <= verdict.bound


def test_a_wrong_kernel_and_one_that_writes_beside_its_output_fail() -> None:
    assert judge(library(32, "f32", False, wrong), CPU, (7,)).failures

    def beside(*tensors: torch.Tensor) -> torch.Tensor:
        *_, out = tensors
        out.as_strided(out.shape, out.stride(), out.storage_offset() - out.stride(1))[:, 0] = 0
        return wrong(*tensors)

    failures = judge(library(32, "f32", False, beside), CPU, (7,)).failures
    assert any("wrote outside its output" in failure for failure in failures)


def test_the_runner_over_cpu_libraries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    built = tilefoundry.jit(attention_module(64, "f32", True), target="cpu")
    assert built.linked is not None
    (kernels / "attention_d64_f32_causal.so").write_bytes(Path(built.linked.library).read_bytes())
    script(tmp_path / "tests/some_test", "echo broken; exit 3")
    script(tmp_path / "tiers/some_test_sm_80", "true")
    assert main(["--bundle", str(tmp_path), "--device", "cpu", "correctness"]) == 0
    assert main(["--bundle", str(tmp_path), "--device", "cpu", "tests"]) == 1
    assert main(["--bundle", str(tmp_path), "--device", "cpu", "tiers"]) == 0
    assert main(["--bundle", str(tmp_path), "--device", "cpu", "bench"]) == 0
    assert main(["--bundle", str(tmp_path), "--device", "cpu", "programs"]) == 0
    output = capsys.readouterr().out
    assert "attention_d64_f32_causal  8      " in output
    assert "1×2×96×64" in output
    assert "conv2d              2×64×9×3×1  " in output
    assert re.search(r"^some_test +\d\.\d +FAIL \(exit code 3\)\n\nFAIL$", output, re.MULTILINE)
    assert re.search(r"^some_test_sm_80 +\d\.\d +PASS\n\nPASS$", output, re.MULTILINE)


def test_a_bundle_without_programs_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="tiers holds no program"):
        main(["--bundle", str(tmp_path), "--device", "cpu", "tiers"])


@pytest.mark.parametrize(
    ("says", "faults"),
    [
        ("echo '========= ERROR SUMMARY: 0 errors'; $3 $4", ""),
        ("echo '========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)'; $3 $4", ""),
        ("echo '========= ERROR SUMMARY: 2 errors'; $3 $4", "2 findings"),
        ("echo '========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)'; $3 $4", "1 findings"),
        ("$3 $4", "the tool wrote no summary"),
        ("echo '========= ERROR SUMMARY: 0 errors'; $3 $4; exit 7", "exit code 7"),
    ],
)
def test_findings_of_a_sanitizer_and_its_silence_fail(
    says: str, faults: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script(tmp_path / "tests/some_test", '[ "$1" = --small ]')
    script(tmp_path / "tests/other_test", '[ "$1" = --small ]')
    script(tmp_path / "racecheck/other_test_racecheck", '[ "$1" = --small ]')
    script(tmp_path / "cuda/bin/compute-sanitizer", f'[ "$1" = --tool ] && {says}')
    monkeypatch.setenv("TILEFOUNDRY_CUDA", str(tmp_path / "cuda"))
    code = main(["--bundle", str(tmp_path), "--device", "cpu", "sanitize"])
    output = capsys.readouterr().out
    for tool in ("memcheck", "racecheck", "synccheck", "initcheck"):
        result = rf"FAIL \({faults}\)" if faults else "PASS"
        other = "other_test_racecheck" if tool == "racecheck" else "other_test"
        for program in ("some_test", other):
            assert re.search(rf"^{program} +{tool} +\d\.\d +{result}$", output, re.MULTILINE)
    assert code == (1 if faults else 0)


def test_a_machine_without_a_sanitizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "tests/some_test", "true")
    monkeypatch.setenv("TILEFOUNDRY_CUDA", str(tmp_path))
    monkeypatch.setenv("PATH", "/bin")
    with pytest.raises(FileNotFoundError, match="no compute-sanitizer in the toolkit that TILEFOUNDRY_CUDA names"):
        main(["--bundle", str(tmp_path), "--device", "cpu", "sanitize"])
    script(tmp_path / "path/compute-sanitizer", "true")
    monkeypatch.setenv("PATH", f"{tmp_path}/path:/bin")
    assert find_sanitizer() == tmp_path / "path/compute-sanitizer"


def test_the_tests_of_the_compiler_are_dealt_out_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "tests/compiler"
    folder.mkdir(parents=True)
    (folder / "good_test.py").write_text(
        "import os, pytest\n"
        "@pytest.mark.parametrize('k', range(5))\n"
        "def test_target(k): assert os.environ['TILEFOUNDRY_TEST_TARGET'] == 'cpu'\n"
        "@pytest.mark.skip\n"
        "def test_later(): ...\n"
    )
    (folder / "bad_test.py").write_text("def test_it():\n    assert 1 == 2\n")
    bad, good = run_compiled(tmp_path, "cpu", 3)
    assert bad == Outcome("bad_test", 0, 0, ("test_it",))
    assert good == Outcome("good_test", 5, 1, ())
    assert "assert 1 == 2" in capsys.readouterr().out
    (folder / "bad_test.py").write_text("import nothing_of_this_name")
    with pytest.raises(RuntimeError, match="nothing_of_this_name"):
        run_compiled(tmp_path, "cpu", 2)


def test_keys_are_computed_again(tmp_path: Path) -> None:
    arch, module = "sm_90a", programs.attention_d32_f32
    right = module_key(module, CudaTarget("nvidia.h200_sxm", arch=arch), CompilerOptions())
    (tmp_path / "attention_d32_f32.key").write_text(f"{arch} {right}\n")
    rows = tmp_path / "rows_cuda.key"
    wanted = {
        (entry, arch): module_key(program, CudaTarget("nvidia.h200_sxm", arch=arch), CompilerOptions())
        for entry, program in KERNELS.items()
        for arch in ("sm_90a", "sm_80")
    }
    rows.write_text("".join(f"{entry} {arch} {key}\n" for (entry, arch), key in wanted.items()))
    assert judge_keys(tmp_path) == [Keys("attention_d32_f32", 1, ()), Keys("rows_cuda", 4, ())]
    rows.write_text(f"softmax sm_80 {right}\n")
    assert judge_keys(tmp_path)[1] == Keys("rows_cuda", 1, (f"softmax sm_80 {right}",))
    with pytest.raises(FileNotFoundError, match="holds no keys"):
        judge_keys(tmp_path / "none")


def test_a_library_of_several_entries(tmp_path: Path) -> None:
    programs_of = [
        f"--entry={name}=examples.native.program:{of}" for name, of in (("rms_norm", "RmsNorm"), ("softmax", "Softmax"))
    ]
    assert kernel_main([*programs_of, "--name=rows_cpu", f"--out={tmp_path}", "--target=cpu"]) == 0
    good = judge_rows(tmp_path / "rows_cpu.so", CPU)
    assert [(v.library, v.failures) for v in good] == [("rows_cpu: rms_norm", ()), ("rows_cpu: softmax", ())]
    assert all(0 < v.worst <= v.bound for v in good)
    swapped = [f"--entry={name}=examples.native.program:Softmax" for name in ("softmax", "other")]
    assert kernel_main([*swapped, "--name=rows_bad", f"--out={tmp_path}", "--target=cpu"]) == 0
    with pytest.raises(ValueError, match="has the entries softmax, other, and no entry 'rms_norm'"):
        judge_rows(tmp_path / "rows_bad.so", CPU)


def test_single_ops_are_timed_on_a_gpu_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--bundle", str(tmp_path), "--device", "cpu", "ops_bench"])
    assert "it has no dry run" in capsys.readouterr().err


def test_a_bundle_without_libraries_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no library named attention_d<dim>_<dtype>"):
        main(["--bundle", str(tmp_path), "--device", "cpu", "bench"])


def test_the_archive_depends_on_contents_and_places_alone(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("one")
    b.write_text("two")
    first = pack(f"0644\tx/a\t{a}\n0755\trun.sh\t{b}")
    os.utime(a, (1, 1))
    assert pack(f"0755\trun.sh\t{b}\n0644\tx/a\t{a}") == first
    with tarfile.open(fileobj=io.BytesIO(first)) as archive:
        assert [(m.name, m.mode, m.mtime, m.uid) for m in archive] == [("run.sh", 0o755, 0, 0), ("x/a", 0o644, 0, 0)]
    with pytest.raises(ValueError, match="two files for x/a"):
        pack(f"0644\tx/a\t{a}\n0644\tx/a\t{b}")


def test_the_archive_has_a_limit(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes(41 << 20))
    with pytest.raises(ValueError, match="more than 41943040"):
        pack(f"0644\tlarge\t{tmp_path / 'large'}")


def test_names_of_programs() -> None:
    assert variant_of("attention_d64_bf16_causal") == Variant(64, "bf16", True)
    assert variant_of("attention_d64_f64") is None
    assert tilefoundry.normalize_to_module(programs.attention_d32_f32).entry == "attention"
    with pytest.raises(AttributeError, match="no attribute 'softmax'"):
        _ = programs.softmax
