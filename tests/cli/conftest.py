from pathlib import Path

import pytest

from ir_outcomes.samples import write_sample
from tests.helpers.sample import write_small_sample


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, and an empty run."""
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    (folder / "empty.run").touch()
    return folder


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """150 queries of the sample."""
    folder = tmp_path_factory.mktemp("small")
    write_small_sample(folder, 150)
    return folder
