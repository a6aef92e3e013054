"""The command line: parses, calls, shows.

Exit status 0; 1 for bad input, with a message that names it; 2 for wrong usage; `gate` and `check`
have further ones. A command is imported when it is called.
"""

import sys

from ir_outcomes.cli.commands import COMMANDS
from ir_outcomes.cli.streams import CALL, messages

__all__ = ["COMMANDS", "main"]


def main() -> None:
    """Run the command line, which never ends with a traceback."""
    CALL.words = sys.argv[1:]
    named = (" ".join(CALL.words[:2]), *CALL.words[:1])
    CALL.command = next((name for name in named if name in COMMANDS), "")
    status = 0
    with messages():
        from ir_outcomes.cli.build import run

        status = run(CALL.words)
    sys.exit(status)
