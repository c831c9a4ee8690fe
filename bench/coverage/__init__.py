"""How often what the program says is so, in worlds whose truth is known."""
