"""Columns of codes, document ids and values, which is what files and objects become, and how objects are taken apart.

What a `Form` declares serves objects and files alike: under which names a table has the query, the
document and the value.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError, MissingDependency
from ir_outcomes.types import Bools, Floats, Ints, RunBy

Ids = np.ndarray[Any, np.dtype[np.bytes_]]
Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.intp]

# Chosen at random by every process, so that nobody can prepare ids whose keys collide, which would
# cost quadratic time. No result depends on it: equal keys only select the pairs that are then
# compared themselves.
SALT = secrets.randbits(64)


def pair_keys(codes: Codes, docids: Ids, seed: int = SALT) -> Keys:
    """Hash each (query code, document id) pair: a sum over the id's 8-byte words, modulo 2**64."""
    # Words of NUL bytes add nothing, so that ids in arrays of different widths, as those of runs
    # and qrels, get the same keys.
    words = words_of(docids)
    multipliers = np.random.PCG64(seed).random_raw(2 * words.shape[1] + 1) | np.uint64(1)
    keys: Keys = codes.astype(np.uint64) * multipliers[0]
    for column, first, second in zip(words.T, multipliers[1::2], multipliers[2::2], strict=True):
        mixed = column * first
        # A product carries upwards only. Without this step, words that differ in their last bytes
        # (the high bits of a little-endian word), as document ids often do, would give keys that
        # differ in few bits.
        mixed ^= mixed >> np.uint64(32)
        keys += mixed * second
    return keys


def repeated(codes: Codes, docids: Ids) -> tuple[Rows, Rows]:
    """Find the rows whose (query, document) pair is that of an earlier row, and these earlier rows."""
    keys = pair_keys(codes, docids)
    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    rows: list[int] = []
    firsts: list[int] = []
    first_of: dict[tuple[int, bytes], int] = {}
    # Equal keys can be those of unequal pairs.
    for row in np.flatnonzero(np.isin(keys, twice)).tolist() if len(twice) else ():
        first = first_of.setdefault((codes[row], docids[row]), row)
        if first != row:
            rows.append(row)
            firsts.append(first)
    return np.array(rows, dtype=np.intp), np.array(firsts, dtype=np.intp)


def words_of(docids: Ids) -> Keys:
    """View ids as (n, n_words) 64-bit words."""
    return docids.view(np.uint64).reshape(len(docids), docids.dtype.itemsize // 8)


class Layout(NamedTuple):
    """Which column of a line contains what."""

    columns: int
    query: int
    document: int
    value: int
    value_name: str  # "score", "rank" or "grade"; ranks and grades are whole numbers
    separator: bytes | None = None  # None is any white space


RANK_NAMES = ("rank", "doc position")


class Form(NamedTuple):
    """A form of runs or qrels. Names are columns, or keys of JSON objects; ``a.b`` is the key b of the object a."""

    name: str  # for `--layout` and the documentation
    what: str  # "run" or "qrels"
    written_by: str
    link: str  # to its definition
    layout: Layout | None = None  # of lines without a header
    query: tuple[
        str, ...
    ] = ()  # names in order of preference; * is the record's own key in an object
    document: tuple[str, ...] = ()  # empty: the items of the list are the ids
    value: tuple[
        str, ...
    ] = ()  # empty: the order of the list is the ranking; in qrels all that it lists is relevant
    items: tuple[
        str, ...
    ] = ()  # the list in a query's record, . for the record itself; empty: a record is one row
    records: str = (  # where records are in a JSON document: "" a list or JSON lines, "a" a list, "a.*" an object by query
        ""
    )
    query_text: tuple[str, ...] = ()  # $.a is an object of the whole document, from ids to texts
    text: tuple[str, ...] = ()  # of the document


class Kind(NamedTuple):
    """What is read: a run or qrels, in which forms, and what the caller says about it."""

    what: str
    forms: tuple[Form, ...]
    foreign: tuple[str, ...]  # values of the other kind, which say that the arguments were swapped
    # Which value of a run orders its documents, None for what its form says.
    by: RunBy | None = None
    selection: str | None = None  # the form, where several fit

    @property
    def layouts(self) -> list[Layout]:
        """The layouts of lines without a header; those of three columns are told apart when they have been read."""
        own = [form.layout for form in self.forms if form.layout and form.name != "msmarco"]
        if self.by != "rank":
            return own
        return [
            layout._replace(value=3 if layout.columns == 6 else layout.value, value_name="rank")
            for layout in own
        ]

    def values_of(self, form: Form) -> tuple[str, ...]:
        """The names of values that a form has, as far as they order the documents as is asked for."""
        return tuple(
            name
            for name in form.value
            if self.by is None or (name in RANK_NAMES) == (self.by == "rank")
        )

    def value_name(self, name: str | None) -> str:
        """Return what a value is, by the name of its column; without a name it is the place in a list."""
        if self.what == "qrels":
            return "grade"
        return "rank" if name is None or name in RANK_NAMES else "score"

    def only(self, fitting: Sequence[Form], source: str) -> Form | None:
        """Return the form that fits, None where none does; several are an error unless one of them is selected."""
        chosen = [form for form in fitting if form.name == self.selection] or list(fitting)
        if chosen and chosen[0].name == "columns" and not any(form.items for form in chosen):
            # Frames of PyTerrier have columns that are called like those of other tools too.
            return chosen[0]
        if len(chosen) > 1:
            names = ", ".join(form.name for form in chosen)
            raise FormatError(source, f"can be read in the forms {names}; say which as FILE#NAME")
        return chosen[0] if chosen else None

    def named(
        self, names: Sequence[str], source: str, line: int | None = None
    ) -> tuple[str, str, str, str]:
        """Return the names of the columns of query, document and value, and what the value is."""
        repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated:
            problem = (
                f"has more than one column {', '.join(map(repr, repeated))}; rename or remove the"
                " others"
            )
            raise FormatError(source, problem, line=line)
        tables = [form for form in self.forms if form.query and not form.items]
        parts = {form: (form.query, form.document, self.values_of(form)) for form in tables}
        form = self.only(
            [form for form in tables if all(set(part) & set(names) for part in parts[form])], source
        )
        if form is not None:
            query, document, value = (
                next(name for name in part if name in names) for part in parts[form]
            )
            return query, document, value, self.value_name(value)
        general = parts[tables[0]]
        lacking = next(part for part in general if not set(part) & set(names))
        problem = (
            f"has no column {' or '.join(map(repr, lacking))}; its columns are {', '.join(names)}"
        )
        if lacking == general[2] and set(self.foreign) & set(names):
            other = "qrels" if self.what == "run" else "a run"
            problem += f". These look like the columns of {other}: were the arguments swapped?"
        raise FormatError(source, problem, line=line)


LONGEST_ID = 1000  # bytes
_LARGEST_WHOLE = 1_000_000_000
_LARGEST_GRADE = 100  # where nothing else says that values are grades
_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_NUMBERS = (str, bytes, bool, np.bool_, np.complexfloating)
_FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")  # their columns can be taken by name

LineOf = Callable[[int], int | None]


def _unknown_line(row: int) -> int | None:
    return None


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of a run or of qrels, in the order of the input."""

    source: str  # what messages call the input
    query_ids: list[str]  # in order of first appearance
    codes: Codes  # (n,), index into the queries
    docids: Ids  # (n,), UTF-8, padded with NUL to a multiple of 8 bytes
    values: Floats  # (n,), never NaN
    value_name: str  # "score", "rank" or "grade"
    line_of: LineOf = _unknown_line

    def named(self, row: int) -> str:
        """Name the query and the document of a row, for messages."""
        return f"document {self.docids[row].decode()} of query {self.query_ids[self.codes[row]]}"

    def error(self, row: int, problem: str, text: str | None = None) -> FormatError:
        """Make the error that states what is wrong with a row, with its line."""
        return FormatError(self.source, problem, line=self.line_of(row), text=text)

    def refuse_fractions(self) -> None:
        """Refuse ranks and grades that are not whole numbers."""
        wrong = np.flatnonzero(
            ~((self.values == np.floor(self.values)) & (np.abs(self.values) <= _LARGEST_WHOLE))
        )
        if len(wrong):
            row = int(wrong[0])
            problem = (
                f"{self.named(row)}: a {self.value_name} must be a whole number of at most"
                f" {_LARGEST_WHOLE:,}"
            )
            raise self.error(
                row, f"{problem}; are these the scores of a run?", str(self.values[row])
            )

    def select(self, rows: Bools) -> Self:
        """Return only the rows that are marked; the queries stay."""
        places = np.flatnonzero(rows)
        return replace(
            self,
            codes=self.codes[rows],
            docids=self.docids[rows],
            values=self.values[rows],
            line_of=lambda row: self.line_of(int(places[row])),
        )


def refuse_swapped(columns: Columns, kind: Kind, names: Sequence[str | None]) -> None:
    """Refuse rows of the other kind, where the names of query, document and value do not tell a run from qrels."""
    query, document, value = names
    is_of_both = document == "corpus-id" or (query, document) == ("q_id", "doc_id")
    if kind.what == "run" and is_of_both and value == "score":
        are_grades = (
            (columns.values >= 0)
            & (columns.values <= 10)
            & (columns.values == columns.values.round())
        )
        if len(are_grades) and are_grades.all():
            problem = (
                "has the columns of qrels as BEIR and ranx write them, and grades: were the"
                " arguments swapped?"
            )
            raise FormatError(columns.source, problem)
    if kind.what == "qrels" and value in (None, "score"):
        too_high = columns.values > _LARGEST_GRADE
        if too_high.any():
            row = int(np.argmax(too_high))
            problem = (
                f"{columns.named(row)} has a grade above {_LARGEST_GRADE}, like a score of a run"
            )
            raise columns.error(
                row, f"{problem}: were the arguments swapped?", str(columns.values[row])
            )


def grouped(columns: Columns) -> tuple[Ints, Ids, Floats]:
    """Bring the rows of each query together, in the input's order within a query."""
    counts = np.bincount(columns.codes, minlength=len(columns.query_ids))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    docids = columns.docids
    values = columns.values
    if np.any(columns.codes[1:] < columns.codes[:-1]):
        order = np.argsort(columns.codes, kind="stable")
        docids = docids[order]
        values = values[order]
    return offsets, docids, values


def nested_dict(
    query_ids: Iterable[str], offsets: Ints, docids: Ids, values: npt.NDArray[Any]
) -> dict[str, dict[str, Any]]:
    """Return ``{query id: {document id: value}}`` of rows as `grouped` returns them."""
    documents = [identifier.decode() for identifier in docids.tolist()]
    numbers = values.tolist()
    spans = pairwise(offsets.tolist())
    return {
        query: dict(zip(documents[start:end], numbers[start:end], strict=True))
        for query, (start, end) in zip(query_ids, spans, strict=True)
    }


def digest_of(query_ids: Iterable[str], *arrays: npt.NDArray[Any]) -> str:
    """Hash queries and arrays; equal where their content is the same."""
    content = hashlib.sha256("\n".join(query_ids).encode())
    for array in arrays:
        content.update(array.tobytes())
    return content.hexdigest()[:32]


def as_ids(ids: Sequence[bytes] | Ids) -> Ids:
    """Make an id array whose width is a multiple of 8, so that ids can be read as 64-bit words."""
    array = np.asarray(ids, dtype=np.bytes_)
    width = -(-max(array.dtype.itemsize, 1) // 8) * 8
    return np.ascontiguousarray(array, dtype=f"S{width}")


def checked_columns(
    source: str,
    columns: Sequence[Any],
    value_name: str,
    *,
    codes: Codes | None = None,
    line_of: LineOf = _unknown_line,
) -> Columns:
    """Check queries, documents and values, columns of any library; with `codes`, each query is there once."""
    queries, documents, values = columns
    if codes is None:
        query_ids, codes = _coded(queries, source, line_of)
    else:
        query_ids = texts(queries, source, "query id", line_of)
    checked = Columns(
        source,
        query_ids,
        codes,
        encoded(documents, source, line_of),
        np.zeros(0),
        value_name,
        line_of,
    )
    return replace(checked, values=_numbers(values, checked))


def texts(ids: Any, source: str, what: str, line_of: LineOf = _unknown_line) -> list[str]:
    """Check ids and return them as text: whole numbers become decimals, all other types are refused."""

    def refuse(row: int, problem: str) -> None:
        line = line_of(row)
        found = ids[row]
        where = f"row {row + 1}: " if line is None else ""
        text = found if isinstance(found, str) else repr(found)
        raise FormatError(source, f"{where}a {what} {problem}", line=line, text=text)

    ids = as_list(ids)
    kinds = set(map(type, ids)) - {str}
    if not all(map(_is_of_ids, kinds)):
        row = next(row for row, identifier in enumerate(ids) if not _is_of_ids(type(identifier)))
        refuse(
            row,
            f"must be text or a whole number, not {type(ids[row]).__name__}; convert it to str"
            " first",
        )
    checked: list[str] = list(map(str, ids)) if kinds else ids
    joined = "".join(checked)
    if "" in checked or "\0" in joined or (not joined.isascii() and _SURROGATES.search(joined)):
        row = next(
            row
            for row, text in enumerate(checked)
            if not text or "\0" in text or _SURROGATES.search(text)
        )
        # Surrogates come from bytes that were decoded wrongly; no file or terminal can contain
        # them.
        refuse(
            row,
            "is empty, has a NUL character, or cannot be encoded in UTF-8; correct or remove it",
        )
    return checked


def _is_of_ids(kind: type) -> bool:
    return issubclass(kind, (str, int, np.integer)) and not issubclass(kind, bool)


def _coded(queries: Any, source: str, line_of: LineOf) -> tuple[list[str], Codes]:
    """Number the queries in order of first appearance."""
    arrow = _arrow_text(queries, source)
    if arrow is not None:
        dictionary = arrow.dictionary_encode()
        return texts(dictionary.dictionary, source, "query id"), dictionary.indices.to_numpy()
    ids = texts(queries, source, "query id", line_of)
    code_of = {query: code for code, query in enumerate(dict.fromkeys(ids))}
    return list(code_of), np.fromiter(map(code_of.__getitem__, ids), np.int32, len(ids))


def encoded(documents: Any, source: str, line_of: LineOf = _unknown_line) -> Ids:
    """Check document ids and return them as `Columns` has them."""
    arrow = _arrow_text(documents, source)
    padded = None if arrow is None else _padded(arrow)
    if padded is not None:
        return padded
    ids = texts(documents, source, "document id", line_of)
    array: Any
    try:
        array = np.array(ids, dtype=np.bytes_) if ids else []  # fails for text that is not ASCII
    except UnicodeEncodeError:
        array = [identifier.encode() for identifier in ids]
    result = as_ids(array)
    # Longer than any document id: the input is something else.
    if result.dtype.itemsize > LONGEST_ID:
        longest = int(np.argmax(np.char.str_len(result)))
        problem = f"a document id is longer than {LONGEST_ID} bytes; is this a run or qrels?"
        raise FormatError(
            source, problem, line=line_of(longest), text=result[longest].decode("utf-8", "replace")
        )
    return result


def _arrow_text(column: Any, source: str) -> Any | None:
    """Take a column that is all text as Arrow has it, without a Python object for each value; None for other columns."""
    if not hasattr(column, "__arrow_c_stream__") or not len(column):
        return None
    try:
        import pyarrow

        chunks = pyarrow.chunked_array(column)
    except (ImportError, TypeError, ValueError, OverflowError, NotImplementedError):
        return None  # such as values of mixed types, or complex numbers
    # Before version 16, pyarrow takes the letters of a polars column for its values.
    if len(chunks) != len(column):
        return None
    if chunks.null_count or str(chunks.type) not in ("string", "large_string", "string_view"):
        return None
    text = chunks.cast(pyarrow.large_string()).combine_chunks()
    try:
        text.validate(full=True)  # Arrow itself does not check that text is UTF-8
    except pyarrow.ArrowInvalid as error:
        problem = f"an id is not UTF-8 ({error}); read the input again with its true encoding"
        raise FormatError(source, problem) from None
    return text


def _padded(text: Any) -> Ids | None:
    """Return document ids in Arrow as `Columns` has them; None where one is empty, too long or ends with NUL."""
    import pyarrow.compute

    sizes = pyarrow.compute.binary_length(text)
    shortest, longest = pyarrow.compute.min_max(sizes).as_py().values()
    width = -(-longest // 8) * 8
    if not 0 < shortest <= longest <= LONGEST_ID:
        return None
    padded = pyarrow.compute.ascii_rpad(text, width, "\0")
    ids = np.frombuffer(padded.buffers()[2], f"S{width}")[
        padded.offset : padded.offset + len(padded)
    ]
    # NumPy drops NUL bytes at the end of an id, so ids with one are left to the checks of `texts`.
    return (
        ids if np.count_nonzero(ids.view(np.uint8)) == pyarrow.compute.sum(sizes).as_py() else None
    )


def _numbers(values: Any, columns: Columns) -> Floats:
    """Check values and return them as float64."""
    if not isinstance(values, list):
        array = np.asarray(values)
        values = array if array.dtype.kind in "fiu" else as_list(values)
    result = _as_floats(values)
    if result is None:
        row = next(row for row, value in enumerate(values) if _as_floats([value]) is None)
        raise columns.error(
            row, f"{columns.named(row)}: a score or grade must be a number", repr(values[row])
        )
    missing = np.isnan(result)
    if missing.any():
        row = int(np.argmax(missing))
        raise columns.error(
            row, f"{columns.named(row)} has no score or grade (NaN); remove or correct it"
        )
    return result


def _as_floats(values: list[Any] | npt.NDArray[Any]) -> Floats | None:
    """Return a list, or an array of numbers, as float64; None where a value is not a real number."""
    # NumPy would parse text, take truth for 1, and drop the imaginary part of its own complex
    # numbers.
    if isinstance(values, list) and any(
        issubclass(kind, _NO_NUMBERS) for kind in set(map(type, values))
    ):
        return None
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return result if result.ndim == 1 else None


def columns_of(data: Any, source: str, kind: Kind) -> Columns:
    """Take the columns out of a Python object."""
    if _is_of_ranx(data):
        data = data.to_dict()
    if isinstance(data, Mapping):
        return _from_mapping(data, source, kind)
    if hasattr(data, "collect") and not hasattr(data, "iter_rows"):  # a lazy frame of polars
        data = data.collect()
    if hasattr(data, "__arrow_c_stream__") and not (
        is_frame(data) and _library_of(data) in _FRAME_LIBRARIES
    ):
        data = _arrow_table(data)
    if is_frame(data):
        *names, value_name = kind.named(column_names(data), source)
        columns = checked_columns(source, [data[name] for name in names], value_name)
        refuse_swapped(columns, kind, names)
        return columns
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes)):
        raise FormatError(
            source,
            f"cannot be read from a {type(data).__name__}; give a path, an ir_datasets id, a dict"
            " of dict, a data frame, an Arrow stream, an iterable of named tuples, or a Run or"
            " Qrels of ranx",
        )
    rows = list(data)
    if not rows:
        return checked_columns(source, ([], [], []), kind.value_name("score"))
    fields = getattr(rows[0], "_fields", ())
    wrong = next(
        (
            number
            for number, row in enumerate(rows, 1)
            if not fields or getattr(row, "_fields", None) != fields
        ),
        None,
    )
    if wrong is not None:
        problem = (
            f"row {wrong} is not a named tuple such as ir_measures.ScoredDoc, with the fields of"
            " the first row"
        )
        raise FormatError(source, problem, text=repr(rows[wrong - 1]))
    *names, value_name = kind.named(fields, source)
    columns = checked_columns(
        source, [[getattr(row, name) for row in rows] for name in names], value_name
    )
    refuse_swapped(columns, kind, names)
    return columns


def name_within(data: Any) -> str | None:
    """Return the name that a run of ranx has."""
    return data.name if _is_of_ranx(data) and isinstance(data.name, str) else None


def is_frame(data: Any) -> bool:
    """Return whether this is a table with columns that can be taken by name."""
    return hasattr(data, "columns") and hasattr(data, "__getitem__")


def column_names(frame: Any) -> list[str]:
    """Return the names of a frame's columns; an Arrow table has them elsewhere, because its columns are the data."""
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def as_list(column: Any) -> list[Any]:
    """Return the values of a column."""
    if isinstance(column, list):
        return column
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def is_ranking(value: Any) -> bool:
    """Return whether this is the ranking of a query without scores: a list of document ids."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "iuUO"
    return isinstance(value, (list, tuple)) and (
        not value or isinstance(value[0], (str, int, np.integer))
    )


def _library_of(data: Any) -> str:
    return type(data).__module__.split(".")[0]


def _is_of_ranx(data: Any) -> bool:
    return _library_of(data) == "ranx" and hasattr(data, "to_dict")


def _arrow_table(data: Any) -> Any:
    """Take the stream whatever else the object offers: the columns of a DuckDB relation, for instance, are relations."""
    try:
        import pyarrow

        return pyarrow.table(data)
    except ImportError:
        if not is_frame(data):
            raise MissingDependency(
                "reading an Arrow stream needs the package pyarrow: pip install pyarrow"
            ) from None
    except (
        TypeError,
        ValueError,
        NotImplementedError,
    ):
        # A frame with columns of mixed types, for instance.
        pass
    return data


def _from_mapping(data: Mapping[Any, Any], source: str, kind: Kind) -> Columns:
    rankings = list(data.values())
    have_values = all(issubclass(form, Mapping) for form in set(map(type, rankings)))
    if not have_values and not (kind.what == "run" and all(map(is_ranking, rankings))):
        wrong = next(
            {query: ranking} for query, ranking in data.items() if not isinstance(ranking, Mapping)
        )
        lists = " or {query id: [document id, ...]}" if kind.what == "run" else ""
        raise FormatError(
            source,
            f"is not a dict of dict {{query id: {{document id: value}}}}{lists}",
            text=repr(wrong),
        )
    within = (
        ranking.values() if have_values else range(1, len(ranking) + 1) for ranking in rankings
    )
    columns = checked_columns(
        source,
        (list(data), list(chain.from_iterable(rankings)), list(chain.from_iterable(within))),
        kind.value_name("score" if have_values else None),
        codes=np.repeat(np.arange(len(rankings), dtype=np.int32), list(map(len, rankings))),
    )
    if len(set(columns.query_ids)) < len(columns.query_ids):
        raise FormatError(
            source, "contains the same query id twice, once as text and once as a number; use text"
        )
    return columns
