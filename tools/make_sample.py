"""Make the embedded sample from a folder of known-item runs: ``python tools/make_sample.py FOLDER``.

FOLDER holds ``qrels.txt``, ``queries.tsv`` and one ``<system>.run.gz`` for each system: queries are
the synopses of Debian 12 packages, documents the long descriptions of all packages with the name
removed, the target is the package itself.
"""

import gzip
import lzma
import random
import sys
from pathlib import Path

from ir_outcomes.samples import SYSTEMS

N_QUERIES = 1000
SEED = 2021


def main(folder: Path, target: Path) -> None:
    judgments = (folder / "qrels.txt").read_text().splitlines()
    chosen = set(random.Random(SEED).sample([line.split()[0] for line in judgments], N_QUERIES))

    def keep(lines: list[str]) -> list[str]:
        return [line for line in lines if line.split(maxsplit=1)[0] in chosen]

    (target / "qrels.txt").write_text("\n".join(keep(judgments)) + "\n")
    (target / "queries.tsv").write_text(
        "\n".join(keep((folder / "queries.tsv").read_text().splitlines())) + "\n"
    )
    for system in SYSTEMS:
        with gzip.open(folder / f"{system}.run.gz", "rt") as stream:
            lines = keep(stream.read().splitlines())
        text = "".join(f"{fields[0]} {fields[2]} {fields[4]}\n" for fields in map(str.split, lines))
        (target / f"{system}.xz").write_bytes(
            lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(__file__).parents[1] / "src" / "ir_outcomes" / "samples" / "data")
