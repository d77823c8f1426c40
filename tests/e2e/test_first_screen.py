"""Seven situations: the screen of 80x24 after fade-run ends names each, the user's own line, and the exact next command.

The programs in situations/ use wrappers in the manner of PyTorch in a site-packages folder; the line to find is marked there."""
import os
import pathlib
import re
import subprocess

import pexpect
import pytest

SITUATIONS = pathlib.Path(__file__).parent / "situations"
PYTHON = "/usr/bin/python3"
ROWS, COLUMNS = 24, 80
STEPS = ["--step", "range:train_step*"]

# name -> options, environment, what the screen says, the report that it names
CASES = {
    "crash": ([], {}, "CRASH", "postmortem"),
    "oom": ([], {}, "OUT OF MEMORY", "oom"),
    "leak": (STEPS, {}, "LEAK", "leaks"),
    "swallowed": ([], {}, "ERRORS", "first-error"),
    "slow": (STEPS, {}, "STEPS", "steps"),
    "hang": (["--hang-timeout", "1s"], {"FADE_STANDIN_DELAY": "hipDeviceSynchronize:3s"}, "HANG", "postmortem"),
    "cpu": ([], {}, "NOT USED", "verdict"),
}


def line_to_find(name):
    lines = (SITUATIONS / f"{name}.py").read_text().splitlines()
    found = [number for number, line in enumerate(lines, 1) if line.endswith("# the line to find")]
    return f"{name}.py:{found[0]}" if found else None


def last_screen(text):
    """What is left on the terminal: lines that are too long go on in the next row; the last row has the prompt."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "")
    rows = []
    for line in plain.rstrip("\n").split("\n"):
        rows += [line[at:at + COLUMNS] for at in range(0, len(line), COLUMNS)] or [""]
    return rows[-(ROWS - 1):]


@pytest.fixture
def environment(build):
    return build.environment("v6", PYTHONPATH=str(SITUATIONS / "site-packages"), PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8", TERM="xterm", FADE_CONFIG="/dev/null",
                             LD_LIBRARY_PATH=f"{build.runtimes / 'v6'}:{build.runtimes / 'markers'}")


@pytest.fixture
def screen(build, environment, tmp_path):
    """The last rows of a terminal after fade-run with these options ran the program."""
    def run(name, options=(), more=None):
        words = ["-o", "run.db", *options, "--", PYTHON, str(SITUATIONS / f"{name}.py")]
        child = pexpect.spawn(str(build.fade_run), words, cwd=str(tmp_path), env={**environment, **(more or {})}, dimensions=(ROWS, COLUMNS), encoding="utf-8", timeout=120)
        text = child.read()
        child.close()
        return last_screen(text)
    return run


@pytest.fixture
def query(build, environment, tmp_path):
    def ask(*words):
        done = subprocess.run([build.fade_query, "run.db", *words], cwd=tmp_path, env={**environment, "COLUMNS": str(COLUMNS)}, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return ask


@pytest.mark.parametrize("name", CASES)
def test_the_first_screen_has_the_answer(screen, query, name):
    options, more, label, report = CASES[name]
    rows = screen(name, options, more)
    text = "\n".join(rows)
    place = line_to_find(name)
    [at] = [number for number, row in enumerate(rows) if row.startswith(label) or (label == "OUT OF MEMORY" and label in row)]
    command = f"fade-query run.db {report}"
    below = [number for number in range(at, len(rows)) if rows[number].strip() == command]
    assert below, f"the command on a line of its own\n{text}"
    said = " ".join(" ".join(rows[at:below[0]]).split())
    assert place is None or place in said, text
    answer = query(*command.split()[2:])
    assert place is None or report == "steps" or place in answer, answer


@pytest.mark.parametrize("name", CASES)
def test_the_summary_begins_with_it(screen, query, name):
    options, more, label, report = CASES[name]
    screen(name, options, more)
    rows = query("summary", "--format", "table").splitlines()
    assert rows[0].startswith(f"python3 {name}.py") and all(len(row) <= COLUMNS for row in rows[:20])
    [at] = [number for number, row in enumerate(rows[:20]) if row.startswith(label) or (label == "OUT OF MEMORY" and label in row)]
    assert any(row.strip() == f"fade-query run.db {report}" for row in rows[at:20])


def test_a_healthy_program_is_not_accused(screen, tmp_path):
    rows = screen("healthy")
    assert not [row for row in rows if re.match(r"(CRASH|HANG|EXIT|MEMORY|LEAK|ERRORS|STEPS|NOT USED|VERDICT)\b", row)], "\n".join(rows)


def test_ranges_are_steps_enough_for_a_leak(screen, query):
    screen("leak")
    [grows] = [row for row in query("findings", "--columns", "finding,subject,text", "--format", "tsv").splitlines() if row.startswith("grows-with-steps")]
    assert line_to_find("leak") in grows and "10 allocations in 10 of 30 ranges" in grows


def test_leaks_puts_what_grows_first_though_it_is_smaller(screen, query):
    screen("leak", STEPS)
    rows = [row.split("\t") for row in query("leaks", "--columns", "user_line,size_bytes,grows", "--format", "tsv").splitlines()[1:]]
    assert rows[0][0].startswith(line_to_find("leak")) and rows[0][1:] == [str(30 << 20), "in 10 of 30 steps"]
    assert int(rows[1][1]) == 64 << 20 and rows[1][2] == ""
    page = " ".join(query("leaks", "--format", "table").split())
    assert page.index("GROWS: left memory in 10 of 30 steps") < page.index("64.0 MiB ")


def test_out_of_memory_is_a_page(screen, query):
    screen("oom")
    page = query("oom", "--format", "table")
    words = " ".join(page.split())
    assert "hipMalloc asked for 2.00 GiB on device 0 at" in words and all(len(row) <= COLUMNS for row in page.splitlines())
    assert re.search(rf"14\.0 GiB +9\d\.\d % +hipMalloc x 7, the largest 2\.00 GiB, at {line_to_find('oom')} Block\.forward", words), page
    assert "tensor.py:" in page


def test_own_wrappers_can_be_skipped(screen, query):
    screen("oom")
    outer = query("leaks", "--by-line", "--columns", "user_line", "--format", "tsv", "--skip-frames", r"^Block\.")
    assert "Block.forward" not in outer and "Block.forward" in query("leaks", "--by-line", "--columns", "user_line", "--format", "tsv")


def test_quiet_stays_quiet(build, environment, tmp_path):
    done = subprocess.run([build.fade_run, "-q", "-o", "run.db", "--", PYTHON, SITUATIONS / "swallowed.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.path.exists(tmp_path / "run.db")
