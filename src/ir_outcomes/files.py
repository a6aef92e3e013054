"""Files that are written completely or not at all, and progress bars."""

import os
import stat
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from ir_outcomes.errors import ParameterError

T = TypeVar("T")


def with_progress(
    items: Iterable[T],
    unit: str,
    total: int,
    *,
    shown: bool,
    size: Callable[[T], int] | None = None,
) -> Iterator[T]:
    """Yield items and show on stderr how many of them are done, if asked to."""
    if not shown or sys.stderr is None:
        yield from items
        return
    from tqdm import tqdm

    with tqdm(total=total, unit=unit, file=sys.stderr) as bar:
        for item in items:
            yield item
            bar.update(1 if size is None else size(item))


_LONGEST_STEM = 200  # bytes of a name, which may have 255 with what is added


def write_completely(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside the target and rename it, so that nobody reads a part of it."""
    try:
        target = Path(path)
        present = target.stat() if target.exists() else None
        # Renaming would replace a device or a pipe, and one such as /dev/stdout has no other path.
        if present is not None and not stat.S_ISREG(present.st_mode):
            target.write_bytes(content)
            return
        target = target.resolve()  # a link stays a link
        # Where this is killed, the file that stays is known by its name, and no more readable than
        # its target.
        name = os.fsdecode(os.fsencode(target.name)[:_LONGEST_STEM])
        beside = target.with_name(f".{name}.unfinished-{uuid.uuid4().hex[:12]}")
        mode = 0o666 if present is None else stat.S_IMODE(present.st_mode)
        try:
            beside.touch(mode, exist_ok=False)
            beside.write_bytes(content)
            if present is not None:
                beside.chmod(mode)  # what the umask took away
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(f"{os.fsdecode(path)}: cannot be written ({reason})") from error
