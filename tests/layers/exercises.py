"""What each layer does at the least: programs that run where the layers above it are missing."""

# By layer. Importing alone would not find what a function imports when it runs.
EXERCISES: dict[str, str] = {
    "diagnostics": """
from tilefoundry.diagnostics import VerifyError
assert "shorten it" in str(VerifyError("too long", remedy="shorten it"))
""",
    "target": """
from tilefoundry.target import CpuTarget, CudaTarget
assert CudaTarget("nvidia.h200_sxm").arch == "sm_90a"
assert CpuTarget().canonical_text() == CpuTarget().canonical_text()
""",
    "ir": """
from tilefoundry.ir.samples import attention
from tilefoundry.ir.text import canonical_module_text
from tilefoundry.ir.verify import verify_module
verify_module(attention())
assert canonical_module_text(attention()) == canonical_module_text(attention())
""",
    "viewer": """
from urllib.request import urlopen
from tilefoundry.ir.samples import attention
from tilefoundry.viewer import page, view
with view(attention(), open_browser=False) as served:
    assert urlopen(served.url).read().decode() == page(attention())
""",
    "abi": """
from tilefoundry.ir.samples import attention
from tilefoundry.runtime.abi import entry_abi_of
assert [p.name for p in entry_abi_of(attention().entry_function()).params] == ["q", "k", "v"]
""",
    "dsl": """
from tilefoundry.dsl import Tensor, tf
assert callable(tf.matmul)
assert Tensor[(4, 4), "f32"] == Tensor[(4, 4), "f32"]
""",
    "python": """
import pathlib
pathlib.Path("program.py").write_text('''
from tilefoundry.dsl import Tensor, tf
from tilefoundry.python import func

@func
def double(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
    return x + x
''')
sys.path.insert(0, ".")
import program
""",
    "evaluator": """
import torch
from tilefoundry.evaluator import evaluate
from tilefoundry.ir.samples import attention
q = torch.ones(1, 64, 64, dtype=torch.bfloat16)
assert torch.equal(evaluate(attention().entry_function(), q, q, q), q)
""",
    "passes": """
from tilefoundry.ir.samples import attention
from tilefoundry.passes import lower
assert lower(attention()).entry == "attention"
""",
    "codegen": """
from tilefoundry.codegen.emit import emit_module
from tilefoundry.ir.samples import attention
from tilefoundry.passes import lower
from tilefoundry.target import CpuTarget
for target in (attention().resolve_target(), CpuTarget()):
    (unit,) = emit_module(lower(attention(), target), target).units
    assert "attention" in unit.source
""",
    "runtime": """
import torch
from tilefoundry.runtime import Ulp, check
x = torch.ones(3)
assert check(lambda x: x, lambda x: x, (x,), expect={"output": [Ulp(max=0)]}).passed
""",
    "loader": """
from tilefoundry.runtime.loader import read_library
try:
    read_library("nothing.so")
except FileNotFoundError:
    pass
else:
    raise AssertionError("loaded a library that is not there")
""",
    "driver": """
from tilefoundry.driver import lower
from tilefoundry.ir.samples import attention
assert lower(attention()).entry == "attention"
""",
    "cli": """
from pathlib import Path
from typer.testing import CliRunner
from tilefoundry.cli.main import app
def run(*args): return CliRunner().invoke(app, list(args))
assert "0 entries" in run("cache", "report", "--dir", "nothing").output
Path("program.py").write_text('''
import tilefoundry as tf
from tilefoundry.dsl import Tensor

@tf.func
def double(x: Tensor[(4,), "f32"]) -> Tensor[(4,), "f32"]:
    return x + x
''')
assert "Tensor[(4,), f32, gmem]" in run("show", "program:double").output
assert "def double" in run("script", "program:double").output
assert run("show", "program:double", "--html", "page.html").output.endswith("page.html\\n")
assert isinstance(run("prepare", "program:double", "nothing", "out").exception, FileNotFoundError)
""",
    "root": """
import torch
import tilefoundry
from tilefoundry.ir.samples import attention
q = torch.ones(1, 64, 64, dtype=torch.bfloat16)
assert torch.equal(attention().attention(q, q, q), q)
""",
}
