"""`python -m harness` is the same program as the `harness` command."""

from harness.cli import main

if __name__ == "__main__":
    main()
