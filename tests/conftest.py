import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

# For the processes that run the tests, and those that the tests start; together a fifth of the
# suite's time.
os.environ["PYTHONDONTWRITEBYTECODE"] = ""  # or each process would compile the package again
# Idle threads take time from the other processes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
for variable in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"):
    # Glibc keeps the memory of arrays instead of asking for it again.
    os.environ.setdefault(variable, str(1 << 28))

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("mutants", settings.get_profile("suite"), phases=[Phase.generate])
settings.load_profile("suite")

REAL_DATA = Path(
    os.environ.get("IR_OUTCOMES_REAL_DATA", Path(__file__).parents[2] / "shared" / "data")
)


def pytest_collection_finish() -> None:
    # What is imported by now lives until the end; looking for garbage among it would take some ten
    # seconds.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True)
def no_baselines() -> Iterator[None]:
    """No test finds baselines that another one registered."""
    from ir_outcomes.measures import baselines  # after the variables above are set

    baselines.registered.clear()
    baselines._evaluated.clear()
    yield
    baselines.registered.clear()
    baselines._evaluated.clear()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of the real runs; whoever asks for it is skipped where it is absent."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"the real runs are not at {REAL_DATA}; set IR_OUTCOMES_REAL_DATA")
    return REAL_DATA


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file with some content."""

    def write(content: str | bytes, name: str = "a.run") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
