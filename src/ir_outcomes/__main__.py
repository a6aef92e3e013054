"""``python -m ir_outcomes``: the command line."""

from ir_outcomes.cli import main

if __name__ == "__main__":
    main()
