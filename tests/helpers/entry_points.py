"""A made-up installation that declares the entry points of pyproject.toml, for programs that look for them."""

import tomllib
from pathlib import Path


def declare_entry_points(folder: Path) -> None:
    """Write the metadata of an installed package into a folder of the module path."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    # Of this name, so that it hides what is installed.
    installed = folder / "ir_outcomes-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: ir_outcomes\nVersion: 1.0\n")
    lines = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in entries.items()))
    ]
    (installed / "entry_points.txt").write_text("\n".join(lines))
