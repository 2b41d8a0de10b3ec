"""What is checked and measured on a GPU machine, and how it gets there: one archive and its runner."""
