"""What other people's tests use: the pytest plug-in. Imported by pytest, through an entry point."""
