"""fade top: a live view of a recording or of a running program, on a terminal and in a pipe."""
import contextlib
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import time

import pytest

import harness
from attach_target import PATIENCE, attach, target, until  # noqa: F401 (fixtures)
from programs import fade  # noqa: F401 (fixtures)


# ---------------------------------------------------------------- a terminal
class Terminal:
    """A window of tmux, whose screen can be read."""

    def __init__(self, folder, columns, rows, command, environment):
        self.socket = str(folder / "tmux")
        self.environment = {**environment, "TERM": "xterm-256color"}
        self.tmux("new-session", "-d", "-x", str(columns), "-y", str(rows), f"exec {command}")
        self.pid = int(self.tmux("display-message", "-p", "#{pane_pid}"))

    def tmux(self, *words):
        done = subprocess.run(
            ["tmux", "-S", self.socket, "-f", "/dev/null", *words],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        return done.stdout if done.returncode == 0 else ""

    def lines(self):
        return self.tmux("capture-pane", "-p").rstrip("\n").split("\n")

    def text(self):
        return "\n".join(self.lines())

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def shows(self, pattern):
        try:
            until(lambda: re.search(pattern, self.text()) is not None)
        except AssertionError as why:
            raise AssertionError(f"no {pattern!r} on the screen:\n{self.text()}") from why
        return self.text()

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def has_ended(self):
        return self.tmux("list-panes") == ""

    def close(self):
        self.tmux("kill-server")


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def open_terminal(columns, rows, command, environment):
        opened.append(Terminal(tmp_path, columns, rows, command, environment))
        return opened[-1]

    yield open_terminal
    for one in opened:
        one.close()


@pytest.fixture
def neighbours(fade, tmp_path):
    """An environment in which fade-top finds the other programs, with a folder for its recordings."""
    (tmp_path / "runtime").mkdir(mode=0o700)
    folders = ":".join(os.path.dirname(fade.path(name)) for name in ("fade-attach", "fade-query", "fade-run"))
    return {**fade.environment, "PATH": f"{folders}:{os.environ['PATH']}", "XDG_RUNTIME_DIR": str(tmp_path / "runtime")}


@pytest.fixture
def recording(build, tmp_path):
    """Of a program that has ended."""
    (tmp_path / "recorded").mkdir()
    harness.run_supervised(build, "errors", "v6", tmp_path / "recorded")
    return tmp_path / "recorded" / "run.db"


def top(fade, *arguments, env=None, **more):
    return fade("fade-top", *arguments, env=env, **more)


# ---------------------------------------------------------------- as text
def rows_of(text, title):
    """name -> cells, of the table whose names have that title."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if re.search(rf"  {title}\b", line))
    rows = {}
    for line in lines[first + 1 :]:
        if not line.strip() or line.startswith("  ("):
            break
        cells = re.split(r"  +", line.strip())
        rows[cells[-1]] = cells[:-1]
    return rows


def test_numbers_are_those_of_sql(fade, recording):
    done = top(fade, "--once", recording)
    assert (done.returncode, done.stderr) == (0, "")
    shown = rows_of(done.stdout, "FUNCTION")
    stored = (
        sqlite3.connect(recording)
        .execute("SELECT name, sum(calls), sum(errors) FROM call_stats GROUP BY name ORDER BY sum(total_ns) DESC")
        .fetchall()
    )
    assert len(shown) == min(len(stored), 15)
    numbers = {name: (str(calls), str(errors)) for name, calls, errors in stored}
    assert {name: tuple(cells[-2:]) for name, cells in shown.items()} == {name: numbers[name] for name in shown}
    calls, errors = sqlite3.connect(recording).execute("SELECT sum(calls), sum(errors) FROM call_stats").fetchone()
    assert f"all {calls} calls, {errors} error" in done.stdout and "ended 0:00:0" in done.stdout


def test_a_pipe_gets_the_view_once(fade, recording):
    assert top(fade, recording).stdout == top(fade, "--once", recording).stdout


def test_sort_and_filter(fade, recording):
    by_name = list(rows_of(top(fade, "--once", "--sort", "name", recording).stdout, "FUNCTION"))
    assert by_name == sorted(by_name)
    filtered = rows_of(top(fade, "--once", "--filter", "HIPFREE|malloc", recording).stdout, "FUNCTION")
    assert filtered and all(re.search("hipfree|malloc", name, re.I) for name in filtered)


def test_one_process(fade, recording):
    (pid,) = sqlite3.connect(recording).execute("SELECT pid FROM processes").fetchone()
    assert f"process {pid} alone" in top(fade, "--once", "--pid", pid, recording).stdout
    done = top(fade, "--once", "--pid", 1, recording)
    assert done.returncode == 1 and "process 1 is not in this recording" in done.stderr


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--filter", "("], "is not a regular expression"),
        (["--interval", "1ms"], "--interval: the time is not between 100ms and 1h"),
        (["--sort", "colour"], "colour"),
        (["a.db", "b.db"], "more than one process or recording"),
    ],
)
def test_misuse(fade, arguments, words):
    done = top(fade, *arguments)
    assert (done.returncode, done.stdout) == (2, "") and words in done.stderr


def test_nothing_to_show_says_what_to_do(fade, tmp_path, recording):
    empty = tmp_path / "empty"
    empty.mkdir()
    done = top(fade, "--once", cwd=empty)
    assert done.returncode == 1 and "there is no recording here" in done.stderr and "fade top PID" in done.stderr
    done = top(fade, "--once", cwd=recording.parent)
    assert done.returncode == 1 and "no recording is under way here" in done.stderr and "fade top run.db" in done.stderr
    done = top(fade, "--once", "nothing.db", cwd=empty)
    assert done.returncode == 1 and "cannot open nothing.db" in done.stderr


def test_a_killed_recording_says_so(fade, build, recording):
    with contextlib.closing(sqlite3.connect(recording)) as database, database:
        database.execute("UPDATE session_ SET clean = 0, end_ns = NULL")
    assert "not closed 0:00:0" in top(fade, "--once", recording).stdout


def test_names_of_the_program_cannot_write_to_the_terminal(fade, recording, terminal):
    with contextlib.closing(sqlite3.connect(recording)) as database, database:
        database.execute(
            "UPDATE function_ SET name = 'evil' || char(27) || ']0;x' || char(7) || char(8238) || '漢字' || char(10)"
        )
        database.execute("UPDATE process_ SET command = char(155) || '2J' || ?", ("é" * 10000,))
    done = top(fade, "--once", recording)
    assert "evil\\x1b]0;x\\x07\\u202e漢字\\n" in done.stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stdout)
    screen = terminal(80, 24, f"{fade.path('fade-top')} {recording}", fade.environment)
    screen.shows(r"evil\\x1b.*漢字")


# ---------------------------------------------------------------- on a terminal
def test_the_view_fits_and_keys_work(fade, recording, terminal, neighbours):
    screen = terminal(80, 24, f"sh -c 'cd {recording.parent}; exec {fade.path('fade-top')} run.db'", neighbours)
    text = screen.shows("FUNCTION")
    assert text.startswith("fade top  run.db") and len(screen.lines()) == 24 and "q quit  ? help" in screen.lines()[-1]
    screen.keys("s")
    screen.shows("sort:calls")
    screen.keys("?")
    screen.shows("write the view to a text file")
    screen.keys("?")
    screen.keys("/", "F", "r", "e", "e", "Enter")
    text = screen.shows(r"FUNCTION \(\d of \d+\)")
    assert "hipFree" in text and "hipGetErrorString" not in text
    screen.keys("Escape")
    screen.shows(r"FUNCTION \(\d+\)")
    screen.keys("/", "(", "Enter")
    screen.shows("is not a regular expression")
    screen.keys("/", "h", "i", "p", "Enter")
    screen.shows(r"q quit.*\Z")  # the message went with the next filter
    screen.keys("Escape", "/", "(", "Enter")
    screen.shows("is not a regular expression")
    screen.keys("Escape")
    screen.shows(r"q quit.*\Z")
    screen.keys("p")
    screen.shows(r"process \d+ alone")
    screen.keys("a", "Space")
    screen.shows("paused, ended")
    screen.resize(200, 50)
    screen.shows(r"PROCESS.*KERNEL")
    assert len(screen.lines()) == 50
    screen.resize(30, 6)
    screen.shows("needs 60 columns")
    screen.resize(80, 24)
    screen.shows("FUNCTION")
    screen.keys("w")
    name = re.search(r"wrote (fade-top-\S+\.txt)", screen.shows("wrote fade-top-.*txt"))[1]
    saved = recording.parent / name
    assert "FUNCTION" in saved.read_text() and saved.stat().st_mode & 0o777 == 0o600
    screen.keys("W")
    page = re.search(r"wrote (fade-top-\S+\.html)", screen.shows("wrote fade-top-.*html"))[1]
    assert (recording.parent / page).read_text().startswith("<!doctype html>")
    screen.keys("q")
    until(screen.has_ended)


@pytest.mark.parametrize("kind", ["dumb", "no-such-terminal", ""])
def test_a_terminal_that_cannot_show_it_is_refused(fade, recording, kind):
    pexpect = pytest.importorskip("pexpect")
    child = pexpect.spawn(
        fade.path("fade-top"),
        [str(recording)],
        env={**fade.environment, "TERM": kind},
        encoding="utf-8",
        timeout=PATIENCE,
    )
    child.expect("cannot draw on a terminal of type")
    child.expect("fade-query top --watch")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1


def test_ascii_and_without_colours(fade, recording, terminal):
    screen = terminal(
        80, 24, f"{fade.path('fade-top')} {recording}", {**fade.environment, "LC_ALL": "C", "NO_COLOR": "1"}
    )
    screen.shows("FUNCTION")
    colored = screen.tmux("capture-pane", "-p", "-e")
    assert not re.search("\x1b\\[[0-9;]*3[0-7]m", colored)
    assert all(ord(c) < 128 for c in screen.text())


# ---------------------------------------------------------------- while it is recorded
def has_a_session(path):
    with contextlib.suppress(sqlite3.Error), contextlib.closing(
        sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    ) as database:
        return database.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
    return False


@pytest.fixture
def running(build, tmp_path):
    """A program under fade-run that calls until the end of the test; its recording."""
    words = [str(build.tracees / "steady"), "2"]
    folder = tmp_path / "running"
    folder.mkdir()
    process = subprocess.Popen(
        [build.fade_run, "-q", "-o", folder / "run.db", "--", *words],
        env=build.environment("v6"),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(b"go\n")
    process.stdin.flush()
    until(lambda: has_a_session(folder / "run.db"))
    yield folder / "run.db"
    process.kill()
    process.communicate()


def test_rates_of_a_recording_under_way(fade, running, terminal):
    screen = terminal(100, 30, f"{fade.path('fade-top')} {running}", fade.environment)
    screen.shows(r"recording 0:00:\d\d")
    text = screen.shows(r"rates of \d\.\d s")
    assert int(re.search(r"calls (\d+)", text)[1]) > 0
    before = screen.shows(r"all \S+ calls")
    until(lambda: screen.text() != before)


def test_without_an_argument_it_takes_the_recording_under_way(fade, running):
    done = top(fade, "--once", cwd=running.parent)
    assert done.returncode == 0 and "fade top  run.db" in done.stdout and "rates of" in done.stdout


# ---------------------------------------------------------------- with a process
def keeper_and_attach(pid):
    return [child for child in harness.descendants(pid) if child != pid]


def runs(pid):
    """False for a zombie. A process may end while its file is read."""
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pids):
    return not any(runs(pid) for pid in pids)


def is_left_alone(target, tmp_path, helpers):
    until(lambda: target.tracer() == 0)
    until(lambda: gone(helpers))
    until(lambda: not list((tmp_path / "runtime").iterdir()))
    target.goes_on()


@pytest.fixture
def attached(fade, target, terminal, neighbours, tmp_path):
    """fade top on the target, once it shows rates."""
    for _ in range(5):  # on a busy machine no thread may stop in time; then fade-attach refuses, and says to try again
        screen = terminal(80, 24, f"{fade.path('fade-top')} {target.pid}", neighbours)
        try:
            until(lambda: screen.has_ended() or "rates of" in screen.text())
        except AssertionError as why:
            raise AssertionError(f"no rates on the screen:\n{screen.text()}") from why
        if not screen.has_ended():
            break
        screen.close()
    screen.shows(r"rates of")
    assert target.tracer() != 0 and re.search(r"\d +hipMalloc$", screen.text(), re.M)
    (folder,) = (tmp_path / "runtime").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    return screen


@pytest.mark.parametrize("way", ["q", "Ctrl-C", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGKILL", "SIGSEGV", "terminal gone"])
def test_every_end_leaves_the_program_as_it_was(attached, target, tmp_path, way):
    helpers = keeper_and_attach(attached.pid)
    assert len(helpers) == 2
    if way == "q":
        attached.keys("q")
    elif way == "Ctrl-C":
        attached.keys("C-c")
    elif way == "terminal gone":
        attached.close()
    else:
        os.kill(attached.pid, getattr(signal, way))
    is_left_alone(target, tmp_path, helpers)


def test_the_keeper_may_be_killed(attached, target, tmp_path):
    keeper, attach = keeper_and_attach(attached.pid)
    os.kill(keeper, signal.SIGKILL)
    until(lambda: target.tracer() == 0)
    attached.shows("not closed|ended")
    attached.keys("q")
    is_left_alone(target, tmp_path, [keeper, attach])


def test_the_view_stays_when_the_program_has_ended(fade, target, attached, tmp_path):
    assert target.end() == 0
    attached.shows(r"ended 0:00:\d\d")
    attached.keys("q")
    until(lambda: not list((tmp_path / "runtime").iterdir()))


def test_a_process_as_text(fade, target, neighbours, tmp_path):
    done = top(fade, "--once", target.pid, env=neighbours)
    assert done.returncode == 0 and {"hipMalloc", "hipFree"} <= set(rows_of(done.stdout, "FUNCTION"))
    assert re.search(r"calls \d+/s", done.stdout)
    is_left_alone(target, tmp_path, [])


def test_a_process_that_cannot_be_attached_to(fade, neighbours, tmp_path):
    child = subprocess.Popen(["sleep", "0"])
    child.wait()
    done = top(fade, "--once", child.pid, env=neighbours)
    assert done.returncode == 4 and f"no process {child.pid}" in done.stderr
    assert not list((tmp_path / "runtime").iterdir())


def test_a_second_view_of_a_process_names_fade_top(fade, target, attached, neighbours):
    done = top(fade, "--once", target.pid, env=neighbours)
    assert "already traced" in done.stderr and f"fade top {target.pid}" in done.stderr


def test_a_program_without_hip_says_so(fade, neighbours):
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            done = top(fade, "--once", child.pid, env=neighbours)
        finally:
            child.kill()
    assert "no HIP library is loaded" in done.stdout and "record with" not in done.stdout


def test_without_fade_attach_it_says_so(fade, target, neighbours, tmp_path):
    done = top(fade, "--once", target.pid, env={**neighbours, "PATH": "/usr/bin:/bin"})
    assert done.returncode == 125 and "cannot start fade-attach" in done.stderr
    assert not list((tmp_path / "runtime").iterdir())
