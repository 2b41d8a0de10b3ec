"""Real models in the tensor language, each held against plain torch: BERT, Llama, a mixture of experts, and MLA."""
