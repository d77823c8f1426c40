"""Which tests run each time, and which ones only where FADE_TESTS=all asks for all: tests/thorough.tsv."""
import fnmatch
import os
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
ALL = os.environ.get("FADE_TESTS") == "all"


def patterns():
    lines = (FOLDER / "thorough.tsv").read_text().splitlines()
    return [line.split("\t")[0] for line in lines if line and not line.startswith("#")]


def is_thorough(item):
    name = item.nodeid.split("::", 1)[1]
    file = os.path.relpath(str(item.fspath), FOLDER)
    return any(fnmatch.fnmatchcase(f"{file}::{name}", pattern) for pattern in patterns())


def deselect(config, items):
    """Of a test that is named on the command line alone, the user knows what it costs."""
    if ALL or any("::" in word for word in config.args):
        return
    left_out = [item for item in items if is_thorough(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
