"""CompiledModule: a kernel library, loaded and callable (runtime spec, 1.1.3 and 1.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, Self

import torch

from tilefoundry.diagnostics import ArgumentTypeError, ArgumentValueError, CompileError, TileFoundryError
from tilefoundry.runtime.abi import EntryABI, KernelLaunch, LinkedModule
from tilefoundry.runtime.module import RuntimeModule
from tilefoundry.runtime.outputs import OutputAllocator
from tilefoundry.runtime.quick_call import with_quick_call


@dataclass(frozen=True)
class BuildInfo:
    """Where a compiled module came from: the compiler, the disk cache, or a library file; and how long that took."""

    origin: Literal["compiled", "disk cache", "library"]
    seconds: float


class DeviceCode(Protocol):
    """What shows the device code of a library: the driver's, since it takes a toolkit to do so."""

    def ptx(self, linked: LinkedModule) -> str:
        """PTX of every kernel."""

    def sass(self, linked: LinkedModule) -> str:
        """Machine code of every kernel."""


class CompiledModule(RuntimeModule):
    """A compiled entry.

    Call it with the inputs, and it allocates the outputs; or with inputs and outputs, and it fills and returns the
    outputs that it was given. One output comes back as itself, several as a tuple. Calls do not take part in autograd.
    Weights are arguments of the entry like any other, so that `load` has nothing to do.

    Args:
        type: the entry's ABI.
        fn: what runs it, on all parameters.
        linked: the library behind it, if it comes from one.
        build_info: how the library was obtained.
        device_code: what shows PTX and SASS.
    """

    def __new__(cls, type: EntryABI, *_: object, **__: object) -> Self:
        """An instance of the class whose calls are quick for such an entry: a call looks in the class."""
        inputs = "".join("t" if p.type.shape else "s" for p in type.input_params)
        quick = cls.__call__ is CompiledModule.__call__
        # (a class is hashable, which mypy does not see of type[Self])
        return super().__new__(with_quick_call(cls, inputs, type.output_count) if quick else cls)  # type: ignore[arg-type]

    def __init__(
        self,
        type: EntryABI,  # the spec names the field
        fn: Callable[..., object],
        linked: LinkedModule | None = None,
        build_info: BuildInfo | None = None,
        device_code: DeviceCode | None = None,
    ) -> None:
        super().__init__(type.name, type.name)
        self.type = type
        self.linked = linked
        self.build_info = build_info
        self._device_code = device_code
        self._fn = fn
        self._outputs = OutputAllocator(type)
        self._input_count = type.input_count
        self._param_count = len(type.params)
        # torch exports the storage of a lazily negated tensor as it is; only floats can be negated lazily
        self._negatable = [i for i, p in enumerate(type.params) if p.type.dtype.is_float and p.type.shape]

    @property
    def kernels(self) -> tuple[KernelLaunch, ...]:
        """The configuration of each launch, in order; launches of one kernel have one name."""
        return self.linked.kernels if self.linked is not None else ()

    @property
    def sources(self) -> Mapping[str, str]:
        """The generated sources, by file name."""
        return self.linked.sources if self.linked is not None else {}

    @property
    def source(self) -> str:
        """The generated sources as one text, kernels first."""
        return "\n".join(f"// ---- {name}\n{text}" for name, text in self.sources.items())

    def ptx(self) -> str:
        """The PTX of every kernel, compiled from `sources` once more with the options of the library.

        Raises:
            CompileError: the module is not for CUDA, came without its sources, or there is no CUDA toolkit.
        """
        shower, linked = self._device_code_of("PTX")
        return shower.ptx(linked)

    def sass(self) -> str:
        """The machine code of every kernel, for each architecture that the library holds.

        Raises:
            CompileError: the module is not for CUDA, or there is no CUDA toolkit with cuobjdump and nvdisasm.
        """
        shower, linked = self._device_code_of("SASS")
        return shower.sass(linked)

    def forward(self, *args: object) -> object:
        """Runs the entry, as a call does."""
        return self(*args)

    def __call__(self, *args: object) -> object:
        """Runs the entry. (Not by way of `forward`: small kernels feel one call more.)

        Raises:
            ArgumentTypeError: the number of arguments is neither that of the inputs nor that of all parameters; an
                argument is no tensor or has another dtype; outputs are to be allocated and the inputs are not torch's.
            ArgumentValueError: an argument has another device, rank, extent or layout, or an output overlaps.
            LaunchError: the device refuses the launch.
        """
        return self._call(*args)

    def _call(self, *args: object) -> object:
        """Any call; `with_quick_call` has the usual one."""
        if len(args) != self._param_count:
            if len(args) != self._input_count:
                raise self._arity_error(len(args))
            args = (*args, *self._outputs.allocate(args))
        args = self._inspected(args)
        try:
            self._fn(*args)
        except RuntimeError as error:
            self._explain(args, error)
            raise
        outputs = args[self._input_count :]
        return outputs[0] if len(outputs) == 1 else outputs

    def _inspected(self, args: tuple[object, ...]) -> tuple[object, ...]:
        """The arguments as the entry may have them, which sees no more of a tensor than DLPack says: nothing that only
        stands for a tensor, nothing negated lazily."""
        for output in args[self._input_count :]:
            if isinstance(output, torch.Tensor) and output.requires_grad:
                self._refuse_grad(args)
        self._refuse_without_storage(args)
        tensors = (args[i] for i in self._negatable)
        if any(isinstance(value, torch.Tensor) and value.is_neg() for value in tensors):
            return self._resolve_negation(args)
        return args

    def _device_code_of(self, what: str) -> tuple[DeviceCode, LinkedModule]:
        if self.linked is None or self._device_code is None:
            raise CompileError(
                f"{self.name}: no library or no compiler stands behind this module to show {what} of",
                remedy="obtain it from tilefoundry.jit, compile, build or load",
            )
        if self.linked.target_name != "cuda":
            raise CompileError(
                f"{self.name}: compiled for '{self.linked.target_name}', which has no {what}",
                remedy="compile it for CUDA; `source` is the generated C++",
            )
        return self._device_code, self.linked

    def _refuse_without_storage(self, args: tuple[object, ...]) -> None:
        """Refuses subclasses that only stand for a tensor: the address that they hand over is not one."""
        for param, value in zip(self.type.params, args, strict=True):
            dispatch = getattr(type(value), "__torch_dispatch__", None)
            if isinstance(value, torch.Tensor) and dispatch is not torch.Tensor.__torch_dispatch__:
                raise ArgumentTypeError(
                    f"argument '{param.name}' is a {type(value).__name__}, which has no storage of its own",
                    remedy="call the kernel outside of tracing, on plain tensors",
                )

    def _explain(self, args: tuple[object, ...], error: RuntimeError) -> None:
        """Names the argument that torch cannot export; returns where the error is one of ours."""
        if isinstance(error, TileFoundryError):
            return
        for param, value in zip(self.type.params, args, strict=True):
            if not isinstance(value, torch.Tensor):
                continue
            if value.layout is not torch.strided:
                raise ArgumentValueError(
                    f"argument '{param.name}' has the layout {value.layout}, expected a strided tensor",
                    remedy="pass x.to_dense()",
                ) from error
            if value.device.type not in ("cpu", "cuda"):
                raise ArgumentValueError(
                    f"argument '{param.name}' is on the device '{value.device}', expected cpu or cuda",
                    remedy="move it to the device of the call",
                ) from error
            try:
                value.data_ptr()
            except RuntimeError:  # inside of torch.vmap, torch.func.grad and the like
                raise ArgumentTypeError(
                    f"argument '{param.name}' is a tensor that torch transforms, which has no memory of its own",
                    remedy="call the kernel outside of torch.vmap and torch.func; write the batch as an axis",
                ) from error

    def _resolve_negation(self, args: tuple[object, ...]) -> tuple[object, ...]:
        resolved = list(args)
        for i in self._negatable:
            value = args[i]
            if not isinstance(value, torch.Tensor) or not value.is_neg():
                continue
            if i >= self._input_count:
                raise ArgumentValueError(
                    f"argument '{self.type.params[i].name}' is an output that torch negates lazily",
                    remedy="pass a tensor of its own, such as torch.empty_like(...)",
                )
            resolved[i] = value.resolve_neg()
        return tuple(resolved)

    def _refuse_grad(self, args: tuple[object, ...]) -> None:
        if not torch.is_grad_enabled():
            return
        for param, value in zip(self.type.output_params, args[self._input_count :], strict=True):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                raise ArgumentValueError(
                    f"argument '{param.name}' is an output that requires grad, which a compiled entry does not record",
                    remedy="pass a tensor that does not, or call under torch.no_grad()",
                )

    def _arity_error(self, count: int) -> ArgumentTypeError:
        inputs = ", ".join(p.name for p in self.type.input_params)
        outputs = ", ".join(p.name for p in self.type.output_params)
        if not outputs:
            return ArgumentTypeError(f"{self.name}: takes {self._input_count} argument(s) ({inputs}), got {count}")
        return ArgumentTypeError(
            f"{self.name}: takes {self._input_count} argument(s) ({inputs}) and returns outputs, or "
            f"{self._param_count} with the outputs ({outputs}) given; got {count}"
        )

    def __repr__(self) -> str:
        params = ", ".join(f"{p.name}: {p.type}" for p in self.type.params)
        return f"CompiledModule({self.name}({params}))"
