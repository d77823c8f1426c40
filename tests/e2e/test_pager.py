"""Pages taller than the terminal go to a pager; everything else is written as it is."""
import os

import pexpect
import pytest

import harness

ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color"}


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pager")
    assert harness.run([build.fade_run, "-q", "-o", folder / "demo.db", "--", build.demo / "fade-demo"],
                       build.environment("v6"), folder).status == 0
    return folder / "demo.db"


def ask(build, recording, *words, rows=10, **environment):
    child = pexpect.spawn(str(build.fade_query), [str(recording), *words, "--no-color"],
                          env={**ENVIRONMENT, **environment}, dimensions=(rows, 80),
                          encoding="utf-8", timeout=30)
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, child.before.replace("\r", "")


def test_a_long_page_goes_to_the_pager(build, recording):
    status, text = ask(build, recording, "top", FADE_PAGER="sed 's/^/> /'")
    assert status == 0 and text.startswith("> name") and "> hipMalloc" in text


@pytest.mark.parametrize("words, rows, environment", [
    (["top", "-n", "1"], 30, {"FADE_PAGER": "sed 's/^/> /'"}),             # short
    (["top", "--no-pager"], 10, {"FADE_PAGER": "sed 's/^/> /'"}),
    (["top", "--format", "tsv"], 10, {"FADE_PAGER": "sed 's/^/> /'"}),     # rows for a program
    (["top"], 10, {"FADE_PAGER": "cat"}),
    (["top"], 10, {"PAGER": "/missing/pager"}),
    (["top"], 10, {"PAGER": "sed 's/^/> /'", "FADE_PAGER": ""}),           # FADE_PAGER before PAGER
])
def test_no_pager(build, recording, words, rows, environment):
    status, text = ask(build, recording, *words, rows=rows, **environment)
    assert status == 0 and text.startswith("name") and "> " not in text


def test_a_reader_who_quits_early_is_no_failure(build, recording):
    status, text = ask(build, recording, "calls", "--limit", "0", FADE_PAGER="head -n 1")
    assert status == 0 and text.splitlines()[0].split()[:2] == ["start", "duration"] and "fade-query:" not in text


def test_less_ends_by_q(build, recording):
    child = pexpect.spawn(str(build.fade_query), [str(recording), "top"], env=ENVIRONMENT,
                          dimensions=(10, 80), encoding="utf-8", timeout=30)
    child.expect(":|END")
    child.send("q")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
