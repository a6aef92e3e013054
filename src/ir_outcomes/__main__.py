"""The command ``ir-outcomes``, also as ``python -m ir_outcomes``."""

import os
import sys

_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")


def main() -> None:
    """Run the command line, which is not imported to say the version."""
    if sys.argv[1:] == ["--version"]:
        from ir_outcomes import __version__

        sys.stdout.write(f"ir-outcomes {__version__}\n")
        return
    # Threads of linear algebra wait for each other; NumPy reads this when it is imported.
    if not any(name in os.environ for name in _THREADS):
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
    from ir_outcomes.cli import main as run

    run()


if __name__ == "__main__":
    main()
