"""Where the programs under test are, for all end-to-end tests. python3 -m pytest tests/e2e --build-dir build/release"""
import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

# Their assertions say what was compared, as those of test files do.
helpers = (path.stem for path in HERE.glob("*.py") if not path.stem.startswith(("test_", "conftest")))
pytest.register_assert_rewrite(*helpers)

import thorough  # noqa: E402  (needs the path above)
from harness import Build  # noqa: E402

os.environ["FADE_PAGER"] = "cat"  # a terminal in a test has nobody who quits less

ROOT = HERE.parents[1]


def pytest_addoption(parser):
    parser.addoption("--build-dir", default=os.environ.get("FADE_BUILD_DIR", str(ROOT / "build" / "release")),
                     help="folder that CMake built into")


def pytest_configure(config):
    build = Build(pathlib.Path(config.getoption("--build-dir")).resolve())
    if missing := build.missing():
        raise pytest.UsageError(f"not built: {', '.join(map(str, missing))}; build first, then give --build-dir")
    config.fade_build = build


def pytest_collection_modifyitems(config, items):
    thorough.deselect(config, items)


@pytest.fixture(scope="session")
def build(request):
    return request.config.fade_build


@pytest.fixture
def fade_run(build):
    return build.fade_run


@pytest.fixture
def fade_query(build):
    return build.fade_query
