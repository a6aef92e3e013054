"""Colours, markers and hatches that can be told apart in print, in greyscale and with any colour vision."""

from __future__ import annotations

# The palette of Okabe and Ito (2008), which people with any colour vision can tell apart.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, LIGHT = "#999999", "#DDDDDD"
COLORS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK, "#888888")  # yellow lines are too weak on white
MARKERS = ("o", "s", "D", "^", "v", "P", "*", "X", "<", ">", "p", "h", "d")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo", "--")


def series_style(number: int) -> dict[str, str]:
    """Return colour and marker of a series: distinct in both for the first eight, in their combination for 104."""
    return {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)]}


def lightness(color: str) -> float:
    """Return the lightness L* of a colour, 0 (black) to 100 (white): what is left of it in greyscale."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = ((value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4) for value in channels)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance
