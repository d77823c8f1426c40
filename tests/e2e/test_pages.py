"""Reports that have a page: text in a pipe and a file, rows where rows are asked for."""
import os
import subprocess

import pytest

import harness

PAGES = ["summary", "verdict", "findings", "devices", "steps", "leaks", "postmortem",
         "first-error", "check", "stacks", "flame"]
ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    command = [build.fade_run, "-q", "-o", folder / "fade-demo.db", "--", build.demo / "fade-demo"]
    assert harness.run(command, build.environment("v6"), folder).status == 0
    return folder / "fade-demo.db"


@pytest.fixture
def query(build, tmp_path):
    def ask(*words, **environment):
        return subprocess.run([build.fade_query, *map(str, words)], cwd=tmp_path,
                              env={**ENVIRONMENT, **environment}, capture_output=True, text=True, timeout=60)
    return ask


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_text_in_a_pipe(query, recording, page):
    piped, asked = query(recording, page), query(recording, page, "-f", "table")
    assert piped.stdout == asked.stdout and piped.returncode == asked.returncode
    assert piped.stdout and "\t" not in piped.stdout and "\x1b" not in piped.stdout


def test_its_width_is_that_of_columns_or_100(query, recording):
    def widest(**environment):
        return max(map(len, query(recording, "steps", **environment).stdout.splitlines()))
    assert widest(COLUMNS="60") <= 60 < widest() <= 100


@pytest.mark.parametrize("words", [["leaks", "-f", "tsv"], ["verdict", "--pid", "1"],
                                   ["devices", "--columns", "ordinal,name"], ["findings", "--sort", "severity"],
                                   ["summary", "-f", "tsv"], ["top"], ["memory"],
                                   ["processes"], ["leaks", "--limit", "2"]])
def test_rows_are_rows(query, recording, words):
    assert "\t" in query(recording, *words).stdout.splitlines()[0]


def test_a_file_of_text_is_a_page(query, recording, tmp_path):
    assert query(recording, "verdict", "-o", "verdict.txt").returncode == 0
    assert (tmp_path / "verdict.txt").read_text() == query(recording, "verdict").stdout


def test_steps_keep_their_page_with_a_limit(query, recording):
    assert query(recording, "steps", "--limit", "3").stdout.startswith("No steps were recorded.")
