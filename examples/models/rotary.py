"""Angles of rotary position embedding, as part of a program."""

# mypy: ignore-errors
# (annotations and bodies of tensor programs are not Python types)

from __future__ import annotations

import math

from tilefoundry import func
from tilefoundry.dsl import DimVar, Tensor, tf
from tilefoundry.ir.core.function import Function


def rotary(S: DimVar, width: int, base: float) -> Function:
    """`tables(places)`: cos and sin (S, width) f32 of the angles place / base**(2 i / width), for both halves.

    Source: Su et al., "RoFormer" (2021).
    """
    half, slope = width // 2, -2 * math.log2(base) / width
    Table = Tensor[(S, width), "f32"]

    @func
    def tables(places: Tensor[(S,), "i32"]) -> tuple[Table, Table]:
        turns = tf.exp2(tf.cast(tf.arange(Tensor[(half,), "i32"]), "f32") * slope)
        angles = tf.reshape(tf.cast(places, "f32"), (S, 1)) * turns
        both = tf.concat(angles, angles, axis=-1)
        return tf.cos(both), tf.sin(both)

    return tables
