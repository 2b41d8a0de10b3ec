"""Token-by-token generation with a causal language model that a Module or its twin describes."""

from tilefoundry.runtime.generation.generate import Generation, RetainedTokensError, generate
from tilefoundry.runtime.generation.sampling import Sampling

__all__ = ["Generation", "RetainedTokensError", "Sampling", "generate"]
