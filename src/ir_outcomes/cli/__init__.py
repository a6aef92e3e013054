"""The command line: parses, calls, shows.

Exit status 0; 1 for bad input, with a message that names it; 2 for wrong usage; `gate` and `check`
have further ones. A command is imported when it is called.
"""

import sys

from ir_outcomes.cli.commands import COMMANDS
from ir_outcomes.cli.streams import CALL, messages, print_lines

__all__ = ["COMMANDS", "main"]


def main() -> None:
    """Run the command line; bad input ends with a message, never with a traceback."""
    words = sys.argv[1:]
    CALL.words = words
    named = [name for name in (" ".join(words[:2]), *words[:1]) if name in COMMANDS]
    CALL.command = named[0] if named else ""
    status = 0
    with messages():
        if words == ["--version"]:
            from ir_outcomes import __version__

            print_lines(f"ir-outcomes {__version__}")
        else:
            from ir_outcomes.cli.build import run

            status = run(words)
    sys.exit(status)
