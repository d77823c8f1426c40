"""The generated completion scripts, asked as the shells ask them."""
import os
import shutil
import subprocess

import pytest

ASK = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
case $1 in fade|fade-*|fadectl) "_${1//-/_}" ;; esac 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def complete(build):
    def ask(*words):
        done = subprocess.run(["bash", "-c", ASK, "bash", str(build.folder / "cli/man/completion.bash"), *words],
                              stdout=subprocess.PIPE, text=True, timeout=60)
        return set(done.stdout.split())

    return ask


@pytest.mark.parametrize("words, offered", [
    (("fade", "r"), {"run"}),
    (("fade", "run", "--detail", "f"), {"full"}),
    (("fade", "run", "--detail", "calls,me"), {"calls,mem="}),
    (("fade-run", "--ov"), {"--override-file"}),
    (("fade-run", "--detail", "=", "f"), {"full"}),
    (("fade-run", "-e", "mem,cop"), {"mem,copy"}),
    (("fade-query", "--format", "js"), {"json", "jsonl"}),
    (("fade", "d"), {"doctor"}),
    (("fade", "doctor", "--s"), {"--strict"}),
    (("fadectl", "p"), {"pause", "prune"}),
    (("fade", "ctl", "attach", "--detail", "sta"), {"stats"}),
])
def test_bash_offers(complete, words, offered):
    assert complete(*words) == offered


def test_bash_offers_every_report(complete):
    assert {"summary", "top", "errors", "overrides"} <= complete("fade-query", "")


@pytest.mark.parametrize(
    "words", [("fade-query", "--on", "http", ":", "//db", ":", "8123"), ("fade", "query", "--on", "=", "x")]
)
def test_bash_offers_the_reports_over_a_server(complete, words):
    offered = complete(*words, "")
    assert {"jobs", "stragglers", "diff"} <= offered and "waits" not in offered
    assert complete(*words, "stra") == {"stragglers"}


@pytest.mark.parametrize("words", [("fade-attach",), ("fade-attach", "-p"), ("fade", "attach", "-q")])
def test_bash_offers_processes(complete, words):
    mine = str(os.getpid())
    assert complete(*words, mine) >= {mine}
    assert all(word.isdigit() for word in complete(*words, ""))


def test_bash_leaves_the_command_alone(complete):
    assert "--detail" not in complete("fade-run", "-q", "sleep", "--d")
    assert "--detail" not in complete("fade-run", "--", "sleep", "--d")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_well_formed(build, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert subprocess.run([shell, "-n", str(build.folder / f"cli/man/completion.{shell}")], timeout=60).returncode == 0
