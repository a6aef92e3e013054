"""The command line: parses, calls, shows.

Data goes to stdout, everything else to stderr. Exit status 0; 1 for bad input, with a message that names it; 2 for wrong usage.
"""

from ir_outcomes.cli import analyses
from ir_outcomes.cli.commands import app
from ir_outcomes.cli.output import messages

__all__ = ["app", "main"]

analyses.register(app)


def main() -> None:
    """Run the command line; bad input ends with a message, never with a traceback."""
    with messages():
        app()
