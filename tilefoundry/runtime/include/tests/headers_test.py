"""What must not compile, with which message; and what must compile alone without a warning."""

import re
from pathlib import Path

import pytest
from tvm_ffi import libinfo

from tilefoundry.runtime.include.tests.compiler import HERE, compile_source
from tilefoundry.runtime.include.tests.refusals import PRELUDE, REFUSED

_CPU = "-DTILEFOUNDRY_TARGET_CPU=1"
_CUDA = "-DTILEFOUNDRY_TARGET_CUDA=1"
_CHECKED = "-DTILEFOUNDRY_CHECKED=1"


_ODD_LANES = """
#include <tilefoundry/runtime.h>
using namespace cute;
namespace tilefoundry { inline namespace TILEFOUNDRY_UNIT {
template <> constexpr auto program_shape<TopologyScope::thread>() noexcept { return Shape<Int<96>>{}; }
using Lanes = Mesh<Layout<Shape<Int<%d>, Int<%d>>, Stride<Int<%d>, _1>>, TopologyScope::thread>;
template <int N>
using Row = ShardLayout<Layout<Shape<Int<%d>, Int<N>>, Stride<_0, _0>>, cute::tuple<shard::S<0>,
    std::conditional_t<N == 1, shard::B, shard::S<1>>>, Lanes>;
template <int N>
auto row() { return register_tensor<float>(Layout<Shape<Int<%d>, Int<N>>, Stride<Int<N>, _1>>{}, Row<N>{}); }
inline void kernel() {
  auto x = row<%d>();
  auto y = row<1>();
  ops::reduce<op::sum, Axes<1>>(x, y);
}
}}
"""


@pytest.fixture(scope="session")
def precompiled(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Options that include the runtime as the compiler remembers it: most of what each refusal would cost."""
    folder = tmp_path_factory.mktemp("precompiled")
    (folder / "runtime.h").write_text("#include <tilefoundry/runtime.h>\n")
    options = ["-std=c++17", _CPU, "-o", "runtime.h.gch", "-x", "c++-header"]
    done = compile_source(folder / "runtime.h", *options, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return ["-include", str(folder / "runtime.h"), "-Winvalid-pch"]


def test_lanes_that_are_no_power_of_two_are_refused(precompiled: list[str], tmp_path: Path) -> None:
    """Of 96 threads: rows of 3, 6, 12, 24 lanes within a warp; those of 4 compile."""
    for lanes in (3, 6, 12, 24, 4):
        rows = 96 // lanes
        source = _ODD_LANES % (rows, lanes, lanes, rows, rows, lanes)
        done = compile_source(source, *precompiled, "-std=c++17", "-fsyntax-only", _CPU, cwd=tmp_path)
        if lanes == 4:
            assert (done.returncode, done.stderr) == (0, "")
        else:
            assert done.returncode != 0
            assert "a reduced mesh axis within a warp must have a power-of-two extent and step" in done.stderr, lanes


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_with_our_message(name: str, precompiled: list[str], tmp_path: Path) -> None:
    statements, message = REFUSED[name]
    done = compile_source(PRELUDE % statements, *precompiled, "-std=c++17", "-fsyntax-only", _CPU, cwd=tmp_path)
    assert done.returncode != 0
    first = next(line for line in done.stderr.splitlines() if " error: " in line)
    assert message in first, "another error comes before ours"


def test_a_scan_over_warps_wants_to_know_the_size_of_a_cta(precompiled: list[str], tmp_path: Path) -> None:
    source = re.sub("template <> constexpr auto program_shape.*", "", PRELUDE)
    source %= "constexpr int bytes = ops::scan_workspace_bytes<0, decltype(x), decltype(x)>(); (void)bytes;"
    done = compile_source(source, *precompiled, "-std=c++17", "-fsyntax-only", _CPU, cwd=tmp_path)
    assert "a scan that leaves its warp needs a static thread level" in done.stderr


def test_the_prelude_itself_compiles(precompiled: list[str], tmp_path: Path) -> None:
    source = PRELUDE % "ops::fill(x, 0.f);"
    done = compile_source(source, *precompiled, "-std=c++17", "-fsyntax-only", _CPU, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_umbrella_gives_every_name_of_the_specification(precompiled: list[str], tmp_path: Path) -> None:
    source = '#include "spec_names.h"\n'
    done = compile_source(source, *precompiled, f"-I{HERE}", "-std=c++17", "-fsyntax-only", _CPU, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("macros", [(), (_CPU, _CUDA)])
def test_exactly_one_target(macros: tuple[str, ...], tmp_path: Path) -> None:
    done = compile_source("#include <tilefoundry/runtime.h>\n", "-std=c++17", "-fsyntax-only", *macros, cwd=tmp_path)
    assert done.returncode != 0
    assert "define exactly one of TILEFOUNDRY_TARGET_CUDA and TILEFOUNDRY_TARGET_CPU" in done.stderr


_ROOT = HERE.parent / "tilefoundry"
_HEADERS = ["runtime.h", *sorted(str(p.relative_to(_ROOT)) for p in (_ROOT / "runtime").rglob("*.h"))]
# Headers of the host's side stand on TVM FFI as well.
_FFI = [flag for path in libinfo.include_paths() for flag in ("-isystem", path)]


def _options(header: str) -> list[str]:
    """The target that a header is for, and what else it stands on."""
    return [
        _CUDA if "/host/cuda/" in header else _CPU,
        *(_FFI if "/host/" in header else []),
        *([_CHECKED] if "checked" in header else []),
    ]


@pytest.mark.parametrize("header", _HEADERS)
def test_compiles_alone(header: str, tmp_path: Path) -> None:
    """Under C++17, whose standard headers bring less of each other than later ones'."""
    _compiles([header], "c++17", _options(header), tmp_path)


@pytest.mark.parametrize(
    ("options", "excluded"),
    [([_CPU], "host/cuda/|checked"), ([_CPU, _CHECKED], "host/cuda/"), ([_CUDA], "/core/|/cpu/|runtime[.]h|host/cpu")],
    ids=["cpu", "checked", "host_of_cuda"],
)
def test_compile_together_under_cpp20(options: list[str], excluded: str, tmp_path: Path) -> None:
    headers = [header for header in _HEADERS if not re.search(excluded, header)]
    assert len(headers) > 10
    _compiles(headers, "c++20", [*options, *_FFI], tmp_path)


# Sources that have ops instantiated: header's name, threads per CTA, whether in checking mode.
_INSTANTIATED = [
    *(("boxes", 128, True), ("casts", 128, False), ("copies", 128, True), ("elementwise", 128, False)),
    *(("grid", 128, True), ("index", 128, False), ("meshes", 32, True), ("meshes", 192, False)),
    *(("products", 128, True), ("reduce", 48, True), ("reduce", 128, False), ("reduce", 192, True)),
]


@pytest.mark.parametrize(("part", "threads", "checked"), _INSTANTIATED)
def test_ops_compile_without_a_warning(part: str, threads: int, checked: bool, tmp_path: Path) -> None:
    """As C++20; as C++17 the libraries of the ops' tests are built so (BUILD.bazel)."""
    options = [f"-DTEST_HEADER=ops_{part}.h", f"-DTEST_NAME={part}", f"-DTEST_THREADS={threads}", "-DTEST_VECTOR=1"]
    options += [f"-DTILEFOUNDRY_UNIT=k_{part}", *([_CHECKED] if checked else [])]
    done = compile_source(HERE / "ops_kernel.cc", "-std=c++20", "-fsyntax-only", _CPU, *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def _compiles(headers: list[str], standard: str, options: list[str], folder: Path) -> None:
    source = "".join(f"#include <tilefoundry/{header}>\n" for header in headers)
    done = compile_source(source, f"-std={standard}", "-fsyntax-only", *options, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
