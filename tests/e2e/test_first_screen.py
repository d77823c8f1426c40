"""Seven situations: the screen of 80x24 after fade-run ends names each, the user's own line, and the exact next
command.

The programs in situations/ use wrappers in the manner of PyTorch in a site-packages folder; the line to find is marked
there."""
import os
import pathlib
import re
import subprocess
import time

import pexpect
import pytest

from programs import wait_for_a_call

SITUATIONS = pathlib.Path(__file__).parent / "situations"
PYTHON = "/usr/bin/python3"
ROWS, COLUMNS = 24, 80
STEPS = ["--step", "range:train_step*"]

# name -> options, environment, what the screen says, the report that it names
CASES = {
    "crash": ([], {}, "CRASH", "postmortem"),
    "oom": ([], {}, "MEMORY", "oom"),
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
    return build.environment("v6", PYTHONPATH=str(SITUATIONS / "site-packages"),
                             PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8", TERM="xterm", FADE_CONFIG="/dev/null",
                             LD_LIBRARY_PATH=f"{build.runtimes / 'v6'}:{build.runtimes / 'markers'}")


@pytest.fixture
def screen(build, environment, tmp_path):
    """The last rows of a terminal after fade-run with these options ran the program."""
    def run(name, options=(), more=None):
        words = ["-o", "run.db", *options, "--", PYTHON, str(SITUATIONS / f"{name}.py")]
        child = pexpect.spawn(str(build.fade_run), words, cwd=str(tmp_path), env={**environment, **(more or {})},
                              dimensions=(ROWS, COLUMNS), encoding="utf-8", timeout=120)
        text = child.read()
        child.close()
        return last_screen(text)
    return run


@pytest.fixture
def query(build, environment, tmp_path):
    def ask(*words):
        done = subprocess.run([build.fade_query, "run.db", *words], cwd=tmp_path,
                              env={**environment, "COLUMNS": str(COLUMNS)}, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout
    return ask


@pytest.mark.parametrize("name", CASES)
def test_the_first_screen_has_the_answer(screen, query, name):
    options, more, label, report = CASES[name]
    rows = screen(name, options, more)
    text = "\n".join(rows)
    place = line_to_find(name)
    [at] = [number for number, row in enumerate(rows) if row.startswith(label)]
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
    [at] = [number for number, row in enumerate(rows[:20]) if row.startswith(label)]
    assert any(row.strip() == f"fade-query run.db {report}" for row in rows[at:20])


def test_a_slow_step_has_the_name_that_the_program_gave_it(screen, query):
    rows = screen("slow", STEPS)
    assert "step 18 'train_step 17' took 3" in row_of(rows, "STEPS")
    page = " ".join(query("steps", "--format", "table").split())
    assert "step 18 'train_step 17' (3" in page


def test_the_page_of_steps_stays_when_its_table_is_sorted(screen, query):
    screen("slow", STEPS)
    rows = query("steps", "--format", "table", "--sort", "-duration").splitlines()
    assert rows[0].startswith("30 steps of thread ")
    [head] = [number for number, row in enumerate(rows) if row.split()[:2] == ["step", "name"]]
    assert rows[head + 1].split()[:3] == ["18", "train_step", "17"]


def test_a_slow_range_is_told_without_step(screen, query):
    rows = screen("slow")
    for words in (row_of(rows, "RANGES"), " ".join(query("summary", "--format", "table").split())):
        assert re.search(r"RANGES range 'train_step 17' took 3\d\d ms, the median of 30 ranges is ", words), words
        assert "--step 'range:train_step *' to see why fade-query run.db ranges" in words


def test_a_healthy_program_is_not_accused(screen, tmp_path):
    rows = screen("healthy")
    assert not [row for row in rows if re.match(r"(CRASH|HANG|EXIT|MEMORY|LEAK|ERRORS|STEPS|NOT USED|VERDICT)\b",
                                                row)], "\n".join(rows)


def test_ranges_are_steps_enough_for_a_leak(screen, query):
    screen("leak")
    [grows] = [row for row in query("findings", "--columns", "finding,subject,text", "--format", "tsv").splitlines()
               if row.startswith("grows-with-steps")]
    assert line_to_find("leak") in grows and "10 allocations in 10 of 30 ranges" in grows


def test_leaks_puts_what_grows_first_though_it_is_smaller(screen, query):
    screen("leak", STEPS)
    rows = [row.split("\t") for row in query("leaks", "--columns", "user_line,size_bytes,grows",
                                             "--format", "tsv").splitlines()[1:]]
    assert rows[0][0].startswith(line_to_find("leak")) and rows[0][1:] == [str(30 << 20), "in 10 of 30 steps"]
    assert int(rows[1][1]) == 64 << 20 and rows[1][2] == ""
    page = " ".join(query("leaks", "--format", "table").split())
    assert page.index("GROWS: left memory in 10 of 30 steps") < page.index("64.0 MiB ")


def test_out_of_memory_is_a_page(screen, query):
    screen("oom")
    page = query("oom", "--format", "table")
    words = " ".join(page.split())
    assert "hipMalloc asked for 2.00 GiB on device 0 at" in words
    assert all(len(row) <= COLUMNS for row in page.splitlines())
    assert re.search(
        rf"14\.0 GiB +9\d\.\d % +hipMalloc x 7, the largest 2\.00 GiB, at {line_to_find('oom')} Block\.forward",
        words), page
    assert "tensor.py:" in page


def test_own_wrappers_can_be_skipped(screen, query):
    screen("oom")
    outer = query("leaks", "--by-line", "--columns", "user_line", "--format", "tsv", "--skip-frames", r"^Block\.")
    assert "Block.forward" not in outer
    assert "Block.forward" in query("leaks", "--by-line", "--columns", "user_line", "--format", "tsv")


def test_quiet_stays_quiet(build, environment, tmp_path):
    done = subprocess.run([build.fade_run, "-q", "-o", "run.db", "--", PYTHON, SITUATIONS / "swallowed.py"],
                          cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.path.exists(tmp_path / "run.db")


def row_of(rows, label):
    """The words of the headline's row with this label."""
    [at] = [number for number, row in enumerate(rows) if row.startswith(label + " ")]
    end = next(number for number in range(at, len(rows)) if "fade-query" in rows[number])
    return " ".join(" ".join(rows[at:end + 1]).split())


def on_a_terminal(columns, command, cwd, environment):
    """The lines that a command writes to a terminal, without what clears the line of an announcement."""
    child = pexpect.spawn(str(command[0]), [str(word) for word in command[1:]], cwd=str(cwd),
                          env=environment, dimensions=(ROWS, columns), encoding="utf-8", timeout=60)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", child.read())
    child.close()
    return [line.rsplit("\r", 1)[-1] for line in text.replace("\r\n", "\n").split("\n")]


@pytest.mark.parametrize("words", [
    ["fade-run", "-o", "run.db", "--", PYTHON, SITUATIONS / "crash.py"],
    ["fade-run", "--set", "device.0.multiProcessorCount=72", "--dry-run"],
    ["fade-run", "-o", "is/not/there.db", "--", "true"],
    ["fade-attach", "--check", "1"],
    ["fade-attach", "999999999"],
])
def test_no_line_is_wider_than_the_terminal(build, environment, tmp_path, words):
    program = {"fade-run": build.fade_run, "fade-attach": build.folder / "cli" / "attach" / "fade-attach"}[words[0]]
    narrow = on_a_terminal(60, [program, *words[1:]], tmp_path, environment)
    too_wide = [line for line in narrow if len(line) > 60 and " " in line.strip()]
    assert len(narrow) > 1 and not too_wide, too_wide
    if "--dry-run" in words:
        piped = subprocess.run([program, *words[1:]], cwd=tmp_path, env=environment,
                               capture_output=True, text=True, timeout=60).stdout
        assert max(map(len, piped.splitlines())) > 100


def test_helpers_are_counted_apart(build, environment, tmp_path):
    """A script starts programs before it becomes the one that uses the GPU: neither figure nor name is theirs."""
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\nfor i in 1 2 3 4 5; do /bin/true; done\nexec {PYTHON} {SITUATIONS / 'crash.py'}\n")
    script.chmod(0o755)
    ran = subprocess.run([build.fade_run, "--summary", "-o", "run.db", "--", script],
                         cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert "ran        1 process, 1 thread, and 5 helpers\n" in ran.stderr
    [cost] = [line for line in ran.stderr.splitlines() if line.startswith("  slowdown")]
    assert " calls x " in cost, cost

    def page(*words):
        return subprocess.run([build.fade_query, "run.db", *words], cwd=tmp_path,
                              env=environment, capture_output=True, text=True, timeout=60).stdout
    assert "1 process, 5 helpers" in page("summary", "--format", "table")
    assert page("postmortem", "--format", "table").startswith("python3 crash.py (pid ")


@pytest.mark.parametrize("text, said", [
    ("raise ImportError('no such model')", "EXIT exit status 1 before HIP was loaded: see the program's own output"),
    ("import faketorch; faketorch.cuda.synchronize(); raise SystemExit(3)", "EXIT exit status 3"),
])
def test_a_program_that_failed_by_itself_is_not_told_to_use_the_gpu(build, environment, tmp_path, text, said):
    ran = subprocess.run([build.fade_run, "--summary", "-o", "run.db", "--", PYTHON, "-c", text],
                         cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == int(said.split()[3]) and said in " ".join(ran.stderr.split())
    assert "NOT USED" not in ran.stderr


def test_a_program_that_is_stopped_in_a_call_says_in_which(build, environment, tmp_path):
    environment = {**environment, "FADE_STANDIN_DELAY": "hipDeviceSynchronize:3s"}
    child = pexpect.spawn(str(build.fade_run), ["--hang-timeout", "1s", "-o", "run.db", "--", PYTHON,
                                                str(SITUATIONS / "hang.py")], cwd=str(tmp_path), env=environment,
                          dimensions=(ROWS, COLUMNS), encoding="utf-8", timeout=60)
    child.expect("hipDeviceSynchronize for")  # the hang was announced, so the call has run for a second
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    page = subprocess.run([build.fade_query, "run.db", "postmortem"], cwd=tmp_path,
                          env=environment, capture_output=True, text=True, timeout=60).stdout
    assert "Another process asked" not in page


def test_the_headline_and_the_page_count_steps_alike(screen, query):
    rows = screen("slow", STEPS)
    page = " ".join(query("steps", "--format", "table").split())
    told = re.search(r"(\d+) of 30 steps slow", row_of(rows, "STEPS")).group(1)
    assert f"{told} step{'' if told == '1' else 's'} took more than 1.5 times the median" in page


def test_commands_name_the_recording_that_was_named(screen, query, build, tmp_path, environment):
    screen("swallowed")
    for report in ("findings", "verdict", "first-error", "processes", "memory"):
        page = query(report, "--format", "table")
        for command in re.findall(r"fade-query (\S+)", page):
            assert command.startswith("run.db"), page


def test_a_stopped_call_is_named_without_a_hang_timeout(build, environment, tmp_path):
    environment = {**environment, "FADE_STANDIN_DELAY": "hipDeviceSynchronize:12s"}
    child = pexpect.spawn(str(build.fade_run), ["-o", "run.db", "--", PYTHON, str(SITUATIONS / "hang.py")],
                          cwd=str(tmp_path), env=environment,
                          dimensions=(ROWS, COLUMNS), encoding="utf-8", timeout=60)
    child.expect("recording")
    wait_for_a_call(tmp_path / "run.db")
    time.sleep(4)
    child.sendintr()
    rows = last_screen(child.read())
    child.close()
    told = row_of(rows, "STOPPED")
    assert "by SIGINT while hipDeviceSynchronize had run for" in told and line_to_find("hang") in told, "\n".join(rows)


def test_a_log_has_the_headline_and_a_crash_once(build, environment, tmp_path):
    """stderr is no terminal: the rows of trouble stand there all the same, unless -q."""
    def errors(name, *options):
        return subprocess.run([build.fade_run, *options, "--force", "-o", "run.db", "--", PYTHON,
                               str(SITUATIONS / f"{name}.py")], cwd=tmp_path, env=environment, capture_output=True,
                              text=True, timeout=60).stderr
    assert line_to_find("swallowed") in errors("swallowed") and "ERRORS" not in errors("swallowed", "-q")
    crash = errors("crash")
    for line in errors("swallowed").splitlines():
        assert not line.startswith("fade: ") or not line.endswith(":"), line
    assert re.search(r"^fade: ERRORS: .*failed.*, at .*swallowed.py:.*: fade-query run.db first-error$",
                     errors("swallowed"), re.M)
    assert "CRASH" in crash and crash.count("fade-query run.db postmortem") == 1, crash


def test_findings_name_the_line_and_sizes_with_units(screen, query):
    screen("swallowed")
    rows = query("findings", "--name", "double-free", "--columns", "subject,text", "--format", "tsv")
    assert f"hipFree at {line_to_find('swallowed')}" in rows and "(it had 1.00 MiB)" in rows, rows


def test_findings_of_memory_name_the_line(screen, query):
    screen("oom")
    assert line_to_find("oom") in query("findings", "--name", "out-of-memory", "--columns",
                                        "subject", "--format", "tsv")


def test_an_empty_answer_in_a_pipe_says_why_on_stderr(screen, build, tmp_path, environment):
    screen("swallowed")
    done = subprocess.run([build.fade_query, "run.db", "copies"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=60)
    assert len(done.stdout.splitlines()) == 1 and "nothing: " in done.stderr


def test_check_says_that_a_program_crashed(screen, build, tmp_path, environment):
    screen("crash")
    done = subprocess.run([build.fade_query, "run.db", "check"], cwd=tmp_path, env=environment,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "failed: crashed: SIGSEGV (verdict FAILED, process " in done.stdout, done.stdout


def test_leaks_of_a_program_without_the_gpu(screen, query):
    screen("cpu")
    assert query("leaks").startswith("no memory was allocated: HIP was never loaded")


def test_the_line_stays_at_80_columns(screen, query):
    screen("swallowed")
    for report in ("errors", "stacks", "calls"):
        rows = query(report, "--format", "table", "--sort", "-user_line")
        assert line_to_find("swallowed") in rows, rows


def test_equal_failures_are_one_row(screen, query):
    screen("swallowed")
    [row] = [line.split("\t") for line in query("errors", "--columns", "name,repeats,user_line,start_ns,last_ns",
                                                "--format", "tsv").splitlines()[1:]]
    assert row[:2] == ["hipFree", "3"] and row[2].startswith(line_to_find("swallowed")) and int(row[3]) < int(row[4])


def test_all_reports_and_commands_are_listed_by_question(screen, query):
    screen("healthy")
    page = query("reports", "--format", "table")
    for word in ("what happened?", "  summary ", "  verdict ", "  first-error ", "  check ", "  sql ", "  probes "):
        assert word in page, page
    assert all(len(line) <= COLUMNS for line in page.splitlines()) and "\u2026" not in page
    words = " ".join(query("reports", "verdict", "--format", "table").split())
    assert "verdict NOT_LOADED, LOADED_UNUSED," in words and "UNWATCHED" in words


def test_rank_is_a_column_of_a_distributed_job_only(screen, query):
    screen("swallowed", [], {"RANK": "3"})
    assert "rank" in query("streams", "--format", "table", "--columns", "pid,rank,stream").split("\n")[0]
    assert " 3 " in query("calls", "--limit", "1", "--columns", "pid,rank,tid", "--format", "table")
    screen("swallowed", ["--force"])
    assert "rank" not in query("lifecycle", "--format", "table").split("\n")[0]
