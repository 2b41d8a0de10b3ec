"""CudaTarget: an NVIDIA device."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from tilefoundry.diagnostics import WrongTypeError, WrongValueError
from tilefoundry.target.base import Target, TopologyLevel, register_target
from tilefoundry.target.document import Document, load_document


@register_target
@dataclass(frozen=True, slots=True, init=False)
class CudaTarget(Target):
    """An NVIDIA device and the architecture to compile for.

    Args:
        device: the id of a device document (``"nvidia.h200_sxm"``), the path of a TOML document, or a Document.
        architecture: likewise for the architecture; by default the one that the device is compatible with.
        arch: the compile architecture, such as ``"sm_90a"``; by default the architecture document's.

    Attributes:
        device: facts about the device.
        architecture: facts and limits of the architecture.
        arch: what the compiler is asked for.

    Raises:
        WrongTypeError: an argument has the wrong type.
        WrongValueError: a document is unknown or malformed, or `arch` is not of the form ``sm_NN``.
    """

    name: ClassVar[str] = "cuda"

    device: Document
    architecture: Document = field(repr=False)
    arch: str

    def __init__(
        self,
        device: str | Document = "nvidia.h200_sxm",
        architecture: str | Document | None = None,
        *,
        arch: str | None = None,
    ) -> None:
        found = device if isinstance(device, Document) else load_document(device, "device")
        if architecture is None:
            if not found.compatible:
                raise WrongValueError(
                    f"device '{found.id}' states no compatible architecture", remedy="pass architecture="
                )
            architecture = found.compatible
        family = architecture if isinstance(architecture, Document) else load_document(architecture, "architecture")
        if arch is None:
            arch = str(family.fact("compiler.arch").value)
        if not isinstance(arch, str):
            raise WrongTypeError(
                f"CudaTarget: arch must be a string, got {arch!r}", remedy='write e.g. "sm_90a", or leave it out'
            )
        if not re.fullmatch(r"sm_\d{2,3}[af]?", arch):
            raise WrongValueError(
                f"CudaTarget: arch must look like sm_80 or sm_90a, got {arch!r}",
                remedy="write sm_, the compute capability, and a or f for a family's own instructions",
            )
        object.__setattr__(self, "device", found)
        object.__setattr__(self, "architecture", family)
        object.__setattr__(self, "arch", arch)

    @property
    def levels(self) -> tuple[TopologyLevel, ...]:
        """CTAs of a grid, threads of a CTA. Warps and lanes exist only inside thread meshes."""
        return TopologyLevel("cta", None), TopologyLevel(
            "thread", int(self.architecture.number("limits.threads_per_cta"))
        )

    @property
    def shared_bytes_per_cta(self) -> int:
        """The most shared memory that one CTA may use, in bytes."""
        return int(self.architecture.number("limits.shared_bytes_per_cta"))

    @property
    def multiprocessors(self) -> int:
        """The number of SMs of the device."""
        return int(self.device.number("multiprocessors"))

    def canonical_text(self) -> str:
        """Name, compile architecture, ids and digests of both documents."""
        return (
            f"cuda arch={self.arch} device={self.device.id}:{self.device.digest} "
            f"architecture={self.architecture.id}:{self.architecture.digest}"
        )
