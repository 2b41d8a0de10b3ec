"""Placement: a program without meshes becomes kernels that have them, and the chain in which these run."""

from tilefoundry.passes.place.place import Place, is_unplaced, levels_of, place_function

__all__ = ["Place", "is_unplaced", "levels_of", "place_function"]
