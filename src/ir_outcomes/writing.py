"""Files are written completely or not at all."""

from __future__ import annotations

import os
import stat
import uuid
from pathlib import Path

from ir_outcomes.errors import ParameterError

__all__ = ["write_completely"]


def write_completely(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file beside the target and rename it: whoever reads sees the old content or the new, never a part of it.

    Raises
    ------
    ParameterError
        If the file cannot be written; what was there before is still there.
    """
    try:
        target = Path(path).resolve()  # a link stays a link
        before = target.stat() if target.exists() else None
        if before is not None and not stat.S_ISREG(before.st_mode):  # renaming would replace a device or a pipe
            target.write_bytes(content)
            return
        beside = target.with_name(f".{uuid.uuid4().hex}")
        try:
            beside.write_bytes(content)
            if before is not None:
                beside.chmod(stat.S_IMODE(before.st_mode))
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(f"{os.fsdecode(path)}: cannot be written ({reason})") from error
