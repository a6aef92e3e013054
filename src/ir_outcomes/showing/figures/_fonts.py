"""Names in Chinese, Japanese or Korean: a font that has their characters, or one warning instead of one for each."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ir_outcomes.errors import IrOutcomesWarning, some, user_stacklevel

__all__ = ["choose_fonts", "without_glyph_warnings"]

# Fonts for these scripts that systems bring or people install; matplotlib's own font has none of them.
FALLBACKS = (
    *(f"Noto Sans{cjk} {region}" for cjk in (" CJK", "") for region in ("SC", "JP", "KR", "TC")),
    *(f"Source Han Sans {region}" for region in ("SC", "JP", "KR", "TC")),
    *("PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Arial Unicode MS"),
    *("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "SimHei"),
    *("WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "IPAexGothic", "NanumGothic"),
)


def choose_fonts(texts: Iterable[Any], later: Iterable[str] = ()) -> list[str]:
    """Let texts fall back to installed fonts that have the characters which their own font lacks.

    Parameters
    ----------
    texts : iterable of matplotlib Text
        The texts of a figure; those of another font keep it, and fall back alike.
    later : iterable of str
        What is still to be written.

    Returns
    -------
    list of str
        The fonts to write it with.

    Warns
    -----
    IrOutcomesWarning
        If no font has some of the characters.
    """
    texts = list(texts)
    family = list(texts[0].get_fontfamily())
    characters = {character for text in (*(text.get_text() for text in texts), *later) for character in text} - {"\n"}
    missing = _lacking(family, characters)
    fallbacks = []
    for fallback in FALLBACKS if missing else ():
        lacking = _lacking([fallback], missing, fallback_to_default=False)
        if len(lacking) < len(missing):
            fallbacks.append(fallback)
            missing = lacking
    if fallbacks:
        for text in texts:
            text.set_fontfamily([*text.get_fontfamily(), *fallbacks])
    if missing:
        _warn_about(missing)
    return [*family, *fallbacks]


def _lacking(family: list[str], characters: set[str], *, fallback_to_default: bool = True) -> set[str]:
    """Return the characters that none of these fonts has."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    missing = characters
    for name in family:
        try:
            font = get_font(findfont(FontProperties(family=[name]), fallback_to_default=fallback_to_default))
        except ValueError:  # it is not installed
            continue
        missing = {character for character in missing if not font.get_char_index(ord(character))}
    return missing


def _warn_about(characters: set[str]) -> None:
    from matplotlib import get_cachedir

    warnings.warn(
        f"matplotlib knows no font with the characters {some(sorted(characters))}, which the figure shows as boxes; install "
        "one, such as Noto Sans CJK for Chinese, Japanese and Korean, and delete the fontlist files in "
        f"{get_cachedir()}, so that matplotlib finds it",
        IrOutcomesWarning,
        stacklevel=user_stacklevel(),
    )


@contextmanager
def without_glyph_warnings() -> Iterator[None]:
    """Leave out matplotlib's warnings about each missing character, because `choose_fonts` has warned about all."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
