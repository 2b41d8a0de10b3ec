"""Errors of the numeric check. A failed comparison is a `Report`, never an exception."""

from __future__ import annotations

from tilefoundry.diagnostics.errors import TileFoundryError


class CheckError(TileFoundryError):
    """The comparison that was asked for cannot be made."""


class CheckTypeError(CheckError, TypeError):
    """An argument, input or result of the check has a type that it cannot work on."""


class CheckValueError(CheckError, ValueError):
    """A bound, an `expect` entry or a result is unusable, or the two results differ in form."""
