"""What there is to say about a memory plan, and what could be better. Imported within estimate only."""
