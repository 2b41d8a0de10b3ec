"""A causal language model, end to end: Gemma 3 decoded with a KV cache, from a quantised checkpoint."""
