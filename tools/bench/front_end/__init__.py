"""How fast the front end is."""
