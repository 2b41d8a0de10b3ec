"""``Tensor[shape, dtype, layout?, storage?]`` and ``ConstTensor[...]``: what authors write in annotations.

Python evaluates an annotation before the front end sees the function, so a subscript only records what was written; the
parser checks it, where it can point at the place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from tilefoundry.diagnostics import WrongTypeError


@dataclass(frozen=True)
class TensorSpec:
    """What was written between the brackets, unchecked.

    Attributes:
        items: shape, dtype, then layout and storage where they are given.
        is_const: the parameter is a weight (``ConstTensor``).
    """

    items: tuple[object, ...]
    is_const: bool = False


class _Subscriptable(type):
    is_const: bool

    def __getitem__(cls, items: object) -> TensorSpec:
        return TensorSpec(items if isinstance(items, tuple) else (items,), cls.is_const)

    def __call__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise WrongTypeError(
            f"{cls.__name__} is an annotation, it has no instances",
            remedy=f'write {cls.__name__}[(64, 64), "f32"]',
        )


class Tensor(metaclass=_Subscriptable):
    """A tensor type: ``Tensor[(B, 64), "bf16"]``, optionally with a layout and a storage (default gmem)."""

    is_const = False


class ConstTensor(metaclass=_Subscriptable):
    """The type of a weight: a parameter whose value a resource supplies when the module is loaded."""

    is_const = True
