"""What the results of the analyses have in common: frozen, made of plain values, shown in every form, and back from JSON."""

from __future__ import annotations

import json
import platform
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

__all__ = ["Result", "plain", "versions"]

R = TypeVar("R", bound="Result")


def versions() -> dict[str, str]:
    """Name the versions that a result was made with."""
    from importlib.metadata import version  # a fourth of what importing the package would take

    packages = {name: version(name) for name in ("ir-outcomes", "numpy", "scipy", "ir-measures")}
    return {**packages, "python": platform.python_version()}


class Result:
    """Base of the frozen dataclasses that the analyses return.

    Showing is the last room of the house; it is entered only when something is to be shown.
    """

    def rows(self) -> list[dict[str, Any]]:
        """Return the result as a table: a dict for each row, None where there is no value."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, text and numbers."""
        result: dict[str, Any] = plain(self)
        return result

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON: no NaN, no infinity."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent)

    @classmethod
    def from_dict(cls: type[R], data: Mapping[str, Any]) -> R:
        """Rebuild what `to_dict` returned."""
        rebuilt: R = _rebuilt(cls, data)
        return rebuilt

    @classmethod
    def from_json(cls: type[R], text: str) -> R:
        """Rebuild what `to_json` returned."""
        return cls.from_dict(json.loads(text))

    def to_frame(self) -> Any:
        """Return `rows` as a pandas data frame."""
        from ir_outcomes.showing.tables import as_frame

        return as_frame(self.rows())

    def to_csv(self) -> str:
        """Return `rows` as CSV."""
        from ir_outcomes.showing.tables import as_csv

        return as_csv(self.rows())

    def to_latex(self) -> str:
        r"""Return the text's table in LaTeX; needs ``\usepackage{booktabs}``."""
        from ir_outcomes.showing.analyses import as_latex

        return as_latex(self)

    def to_html(self) -> str:
        """Return the text's table and notes in HTML; everything is escaped."""
        from ir_outcomes.showing.analyses import as_html

        return as_html(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def plot(self, kind: str | None = None, ax: Any = None) -> Any:
        """Draw a picture with matplotlib; the class says which kinds there are, the first is drawn by default.

        Parameters
        ----------
        kind : str, optional
            Which picture.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, which is ``.figure`` of what is returned.

        Raises
        ------
        ParameterError
            If there is no such picture of this result.
        MissingDependency
            If matplotlib is not installed.
        """
        from ir_outcomes.showing.pictures import draw

        return draw(self, kind, ax)

    def __str__(self) -> str:
        from ir_outcomes.showing.analyses import as_text

        text: str = as_text(self)
        return text


def plain(value: Any) -> Any:
    """Turn a frozen dataclass, and what it holds, into dicts, lists, text and numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return value.isoformat() if isinstance(value, date) else value


def _rebuilt(kind: Any, value: Any) -> Any:
    """Turn what JSON gave back into the type that the dataclass declares."""
    origin, inner = get_origin(kind), get_args(kind)
    if value is None:
        return None
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{field.name: _rebuilt(hints[field.name], value[field.name]) for field in fields(kind)})
    if origin in (Union, types.UnionType):
        return _rebuilt(next(each for each in inner if each is not type(None)), value)
    if origin is tuple:
        kinds = [inner[0]] * len(value) if inner[-1] is Ellipsis else inner
        return tuple(_rebuilt(each, item) for each, item in zip(kinds, value, strict=True))
    if origin is dict:
        return {key: _rebuilt(inner[1], item) for key, item in value.items()}
    if isinstance(kind, type) and issubclass(kind, tuple):
        return kind(*value)
    return date.fromisoformat(value) if kind is date else value
