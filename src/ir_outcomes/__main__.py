"""The command ``ir-outcomes``, also as ``python -m ir_outcomes``."""

import sys


def main() -> None:
    """Run the command line, which is not imported to say the version."""
    if sys.argv[1:] == ["--version"]:
        from ir_outcomes import __version__

        sys.stdout.write(f"ir-outcomes {__version__}\n")
        return
    from ir_outcomes.cli import main as run

    run()


if __name__ == "__main__":
    main()
