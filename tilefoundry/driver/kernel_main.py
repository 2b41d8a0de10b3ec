"""The command behind the Bazel rule `tilefoundry_kernel`: from a program to a library."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from tilefoundry.codegen.emit import emit_module
from tilefoundry.diagnostics import CompileError, TileFoundryError
from tilefoundry.driver.inputs import normalize_to_module, resolve_target
from tilefoundry.driver.keys import module_key
from tilefoundry.driver.options import CompilerOptions
from tilefoundry.driver.write_artifact import write_artifact
from tilefoundry.ir.core.function import Function
from tilefoundry.ir.core.module import Module
from tilefoundry.passes import lower
from tilefoundry.target import CpuTarget, CudaTarget, Target


def main(argv: Sequence[str]) -> int:
    """Writes ``<out>/<name>.{so,key,abi.json,sources/}``; returns the exit status."""
    parser = argparse.ArgumentParser(prog="tilefoundry_kernel")
    parser.add_argument("--module", required=True, help="what to compile, as 'package.module:attribute'")
    parser.add_argument("--name", required=True, help="stem of the output files")
    parser.add_argument("--out", required=True, type=Path, help="folder of the output files")
    parser.add_argument("--target", required=True, choices=("cuda", "cpu"))
    parser.add_argument(
        "--arch", action="append", default=[], help="compile architecture or instruction set; may repeat"
    )
    parser.add_argument("--optimization-level", type=int, default=CompilerOptions().optimization_level)
    parser.add_argument("--fast-math", action="store_true")
    parser.add_argument("--line-info", action="store_true")
    parser.add_argument("--stages", type=int)
    parser.add_argument("--min-ctas-per-sm", type=int)
    parser.add_argument("--unroll-loops", action="store_true")
    args = parser.parse_args(argv)
    try:
        options = CompilerOptions(**{field.name: getattr(args, field.name) for field in fields(CompilerOptions)})
        module = normalize_to_module(_load_program(args.module))
        module.entry_function()
        targets = _targets(resolve_target(module, args.target), args.target, args.arch)
        keys = {arch: module_key(module, target, options) for arch, target in targets.items()}
        first = next(iter(targets.values()))
        lowered = lower(module, first, stages=options.stages)
        linkable = emit_module(lowered, first, min_ctas_per_sm=options.min_ctas_per_sm)
        write_artifact(linkable, options, args.out.absolute(), args.name, keys)
    except TileFoundryError as error:
        print(f"{args.module}: {error}", file=sys.stderr)
        return 1
    return 0


def _load_program(reference: str) -> Function | Module:
    module_name, colon, attribute = reference.partition(":")
    if not colon or not module_name or not attribute:
        raise CompileError(f"expected 'package.module:attribute', got '{reference}'")
    program: object = importlib.import_module(module_name)
    for part in attribute.split("."):
        if not hasattr(program, part):
            raise CompileError(f"'{module_name}' has no attribute '{attribute}'")
        program = getattr(program, part)
    return program  # type: ignore[return-value]  # normalize_to_module refuses anything else


def _targets(target: Target, name: str, archs: Sequence[str]) -> dict[str, Target]:
    """Each architecture with its target, of which the first is compiled for when the sources depend on it."""
    if target.name != name:
        raise CompileError(f"the program declares the target '{target.name}', but the rule says '{name}'")
    if isinstance(target, CudaTarget):
        named = [CudaTarget(target.device, target.architecture, arch=arch) for arch in archs]
        return {t.arch: t for t in named} or {target.arch: target}
    if len(archs) > 1:
        raise CompileError(f"a CPU library has one instruction set, got {list(archs)}")
    chosen = CpuTarget(archs[0]) if archs else target
    assert isinstance(chosen, CpuTarget)
    return {chosen.isa: chosen}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
