"""Sentence embeddings and semantic search: the whole encoder of all-MiniLM-L6-v2."""
