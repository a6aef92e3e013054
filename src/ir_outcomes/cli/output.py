"""What every command shares: formats, where output goes, and messages instead of tracebacks."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from ir_outcomes.errors import IrOutcomesError, IrOutcomesWarning, ParameterError

QRELS = Annotated[str, typer.Argument(help="qrels file, or an ir_datasets id such as msmarco-document/dev", show_default=False)]


class Format(str, Enum):
    """How results are written."""

    text = "text"
    json = "json"
    jsonl = "jsonl"
    csv = "csv"
    latex = "latex"
    markdown = "markdown"
    html = "html"


def save_picture(axes: Any, path: Path) -> None:
    """Write the figure that was drawn on these Axes."""
    from ir_outcomes.showing.figures import save

    if path.exists():
        typer.echo(f"note: {path} exists and is overwritten", err=True)
    try:
        save(axes, path)
    except ParameterError as error:
        raise ParameterError(f"--plot {error}") from error


@contextmanager
def stdout_or(output: Path | None) -> Iterator[Callable[[Any], None]]:
    """Yield a function that writes text, or the text of a view, to stdout or to this file."""
    from ir_outcomes.showing.text import print_view

    def write(shown: Any) -> None:
        if isinstance(shown, str):
            stream.write(f"{shown}\n")
        else:
            print_view(shown, stream)

    if output is None:
        stream: TextIO = sys.stdout
        yield write
        return
    try:
        with output.open("w", encoding="utf-8") as stream:
            yield write
    except OSError as error:
        raise ParameterError(f"--output {output}: cannot be written ({error.strerror})") from error


@contextmanager
def messages() -> Iterator[None]:
    """Turn our errors into a message and exit status 1, and our warnings into lines on stderr."""

    def show(message: Warning | str, category: type[Warning], *details: Any, **more: Any) -> None:
        if issubclass(category, IrOutcomesWarning):
            typer.echo(f"warning: {message}", err=True)
        else:
            original(message, category, *details, **more)

    original = warnings.showwarning
    warnings.showwarning = show
    try:
        yield
    except IrOutcomesError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    finally:
        warnings.showwarning = original
