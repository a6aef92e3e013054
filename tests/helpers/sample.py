"""The embedded sample with its first queries only: the same files, read in a fraction of the time."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from ir_outcomes.samples import write_sample


def write_small_sample(folder: Path, n_queries: int) -> None:
    for name, content in _small_sample(n_queries).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@cache
def _small_sample(n_queries: int) -> Mapping[str, bytes]:
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths = write_sample(folder)
        judged = (folder / "qrels.txt").read_text().splitlines()
        queries = set(list(dict.fromkeys(line.split()[0] for line in judged))[:n_queries])
        content = {}
        for path in paths:
            text = path.read_text("utf-8")
            if path.name == "qrels.txt" or (path.parent == folder and path.suffix == ".run"):
                lines = text.splitlines(keepends=True)
                text = "".join(line for line in lines if line.split(maxsplit=1)[0] in queries)
            content[str(path.relative_to(folder))] = text.encode()
        return content
