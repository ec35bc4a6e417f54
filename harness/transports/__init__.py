"""Ways to talk to a board."""
