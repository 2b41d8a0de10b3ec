"""The types without layout, under the name that people import them from."""

from tilefoundry.ir.core.type import CallableType, IntLiteralType, TupleType, Type, UnitType

__all__ = ["CallableType", "IntLiteralType", "TupleType", "Type", "UnitType"]
