from pathlib import Path

import pytest

from ir_outcomes.samples import write_sample
from tests.helpers.sample import write_small_sample


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample."""
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return folder


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 queries of the sample, an empty run, and values."""
    folder = tmp_path_factory.mktemp("small")
    write_small_sample(folder, 150)
    (folder / "empty.run").touch()
    for name, step in (("old", 3), ("new", 5)):
        rows = [f"q{n},{n * step % 7 / 7}\n" for n in range(60)]
        (folder / f"{name}.csv").write_text("".join(["id,faithfulness\n", *rows]))
    return folder
