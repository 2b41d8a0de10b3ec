"""Types, layouts, meshes, ops, functions, Module: pure data and rules, no tensor library."""

import tilefoundry.ir.core  # noqa: F401  # fixes the order in which the packages below are built
