"""docs/how-to: the recipes for pandas, DuckDB and sqlite3, and the notebook, run on a recording and answer.

FADE_UPDATE_GOLDENS=1 makes the notebook of the page."""
import json
import re
import shutil
import sqlite3
import subprocess

import pytest

import harness
import transcripts

FOLDER = transcripts.ROOT / "docs" / "how-to"
PAGE, NOTEBOOK = FOLDER / "pandas-duckdb.md", FOLDER / "recipes.ipynb"
BLOCK = re.compile(r"^<!-- run -->\n```(\w+)\n(.*?)^```$", re.M | re.S)
HEAD = (
    "# Recipes for a recording of fade\n\n"
    "A recording is an SQLite file. This notebook reads `run.db` in its folder, and `before.db` for the comparison. "
    "[The page of the same recipes](pandas-duckdb.md) has DuckDB, too."
)
# The value of a cell's last line goes into a file. An answer without rows would be no recipe.
SHOWING = """
import ast, json, sys
import pandas
cells, names = json.load(open(sys.argv[1])), {}
for cell in cells:
    tree = ast.parse(cell)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, cell, "exec"), names)
    shown = eval(compile(last, cell, "eval"), names) if last else None
    if shown is not None:
        assert len(shown) > 0, f"no rows: {cell}"
print("all", len(cells))
"""


def blocks(language):
    return [text for word, text in BLOCK.findall(PAGE.read_text()) if word == language]


@pytest.fixture(scope="module")
def desk(build, tmp_path_factory):
    """A folder with run.db and before.db: a loop with a slow step, memory that stays, and times of the GPU."""
    folder = tmp_path_factory.mktemp("recipes")
    libraries = [build.runtimes / name for name in ("v6", "clients", "markers", "hsa")]
    environment = {
        **build.environment("v6"),
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "PYTHONPATH": str(transcripts.SITUATIONS / "site-packages"),
        "FADE_STANDIN_HSA": str(folder / "truth"),
    }
    options = ["-q", "-k", "all", "--gpu-times", "--step", "range:train_step*"]
    program = ["/usr/bin/python3", transcripts.SITUATIONS / "slow.py"]
    for name in ("before", "run"):
        ran = harness.run(
            [build.fade_run, *options, "-o", folder / f"{name}.db", "--", *program], environment, folder / name
        )
        assert ran.status == 0, ran.stderr
    return folder


def run_cells(cells, folder):
    (folder / "cells.json").write_text(json.dumps(cells))
    done = subprocess.run(
        ["/usr/bin/python3", "-W", "error::DeprecationWarning", "-c", SHOWING, folder / "cells.json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, f"all {len(cells)}\n"), done.stderr


def has_pandas():
    return subprocess.run(["/usr/bin/python3", "-c", "import pandas"], capture_output=True).returncode == 0


needs_pandas = pytest.mark.skipif(
    not has_pandas(), reason="pandas is not installed (Debian: apt install python3-pandas)"
)


@needs_pandas
def test_the_recipes_for_pandas_answer(desk):
    run_cells(blocks("python"), desk)


@needs_pandas
def test_the_notebook_answers(desk):
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    run_cells(["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"], desk)


def notebook_of_the_page():
    text, cells = PAGE.read_text().split("\n## DuckDB")[0].split("## pandas")[1], []

    def add(kind, source, **more):
        if source.strip():
            lines = source.strip().splitlines(True)
            cells.append({"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}, **more, "source": lines})

    add("markdown", HEAD)
    at = 0
    for block in BLOCK.finditer(text):
        add("markdown", text[at : block.start()])
        add("code", block[2], execution_count=None, outputs=[])
        at = block.end()
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def test_the_notebook_has_the_recipes_of_the_page():
    if transcripts.updating():
        NOTEBOOK.write_text(notebook_of_the_page())
    assert NOTEBOOK.read_text() == notebook_of_the_page(), "FADE_UPDATE_GOLDENS=1 makes it of the page"


def as_sqlite(statement):
    """What both know of a statement for DuckDB; empty if that is nothing."""
    if re.match(r"\s*(INSTALL|LOAD|ATTACH)\b", statement):
        return ""
    copied = re.match(r"\s*COPY \((.*)\) TO '", statement, re.S)
    return (copied[1] if copied else statement).replace("run.", "").replace("//", "/").strip()


def test_the_statements_for_duckdb_answer_in_sqlite(desk):
    (text,) = blocks("sql")
    statements = [statement for part in text.split(";") if (statement := as_sqlite(part))]
    assert len(statements) == 3
    for statement in statements:
        assert sqlite3.connect(desk / "run.db").execute(statement).fetchall(), statement


def test_the_command_for_sqlite3_answers(desk):
    if not shutil.which("sqlite3"):
        pytest.skip("sqlite3 is not installed")
    for text in blocks("sh"):
        done = subprocess.run(text, shell=True, cwd=desk, capture_output=True, text=True)
        assert done.returncode == 0 and len(done.stdout.splitlines()) > 3, done.stderr
