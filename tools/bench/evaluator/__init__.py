"""How fast the evaluator is, and how much memory it takes."""
