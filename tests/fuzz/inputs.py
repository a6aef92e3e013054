"""What the fuzzers make their inputs of: ids, numbers and lines that are mostly as they should be, and damage."""

from __future__ import annotations

import bz2
import gzip
import lzma
import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesError

__all__ = ["IDS", "NUMBERS", "ODD", "damaged", "line", "odd", "result_of"]

IDS = [
    "q1", "q2", "d1", "D1", "1", "01", "RR", "all", "é", "漢", "\u00a0", "a\u00a0b", "\u2028", "\x1b[1m", "x" * 70, "=1+1",
    '"', ",",
]  # fmt: skip
NUMBERS = [
    "1", "0", "-1", "0.5", "1e3", "1_0", "nan", "inf", "-inf", "\u0661", "0x1", "1,0", "", "1e999", "1" * 30, "+3", ".5",
    "5.", "-0.0",
]  # fmt: skip
SEPARATORS = [" ", "\t", "  ", " \t", "\v", "\f", "\u00a0", ","]
ENDS = ["\n", "\r\n", "\n\n", "", "\r", "\u2028"]


def line(rng: random.Random, n_columns: int, numeric: tuple[int, ...]) -> str:
    """A line that is mostly as it should be."""
    columns = [rng.choice(NUMBERS[:5] if rng.random() < 0.95 else NUMBERS) if place in numeric else
               rng.choice(IDS[:6] if rng.random() < 0.9 else IDS) for place in range(n_columns)]  # fmt: skip
    if rng.random() < 0.02:
        columns.pop() if rng.random() < 0.5 else columns.append("x")
    separator = rng.choice(SEPARATORS[:2] if rng.random() < 0.95 else SEPARATORS)
    return separator.join(columns) + (rng.choice(ENDS) if rng.random() < 0.05 else "\n")


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Change, remove or insert some bytes, or compress them, mostly not."""
    content = bytearray(data)
    if rng.random() < 0.3:
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(content) + 1)
            kind = rng.randrange(4)
            if kind == 0 and place < len(content):
                content[place] = rng.randrange(256)
            elif kind == 1:
                content[place:place] = rng.choice([b"\0", b"\xff", b"\xef\xbb\xbf", b"\n", b" ", b"\x1b", b'"', b"\xc3"])
            elif kind == 2:
                del content[place : place + rng.randint(1, 5)]
            else:
                del content[place:]
    data = bytes(content)
    if rng.random() < 0.05:
        compress: Any = rng.choice([gzip.compress, bz2.compress, lzma.compress])
        data = compress(data)
        if rng.random() < 0.5:
            place = rng.randrange(len(data))
            data = data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    return data


def result_of(read: Callable[[], Any]) -> Any:
    """The result, or the kind of an error of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", iro.IrOutcomesWarning)
        try:
            return read()
        except IrOutcomesError as error:
            str(error).encode()  # can be shown everywhere
            return type(error)


ODD: list[Any] = [
    None, True, 5, -1, 10**400, 1.5, math.nan, math.inf, "1", "", "\ud800", "a\0", "é", b"x", (), [1], {}, 1j, np.int64(3),
    np.float32(2),
]  # fmt: skip


def odd(rng: random.Random, usual: Any, share: float = 0.05) -> Any:
    return rng.choice(ODD) if rng.random() < share else usual
