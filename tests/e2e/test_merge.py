"""Recordings of several ranks, runs and machines as one file: fade-query merge, and reports over several files."""
import os
import shutil
import signal
import sqlite3
import subprocess
import textwrap
import time

import pytest

import harness
from queries import ENVIRONMENT, query  # noqa: F401 (fixture)

# One rank of a job, recorded by itself. Three steps; the slow rank works longer before each reduction.
RANK = textwrap.dedent(
    """
    import ctypes, os, sys, time
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    hip, rccl = ctypes.CDLL("libamdhip64.so.6"), ctypes.CDLL("librccl.so.1")
    class Id(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_char * 128)]
    comm, pointer = ctypes.c_void_p(), ctypes.c_void_p()
    rccl.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, Id, ctypes.c_int]
    rccl.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                   ctypes.c_void_p, ctypes.c_void_p]
    def meet(step):
        open(f"{os.environ['MEETING']}/{step}-{rank}", "w").close()
        while any(not os.path.exists(f"{os.environ['MEETING']}/{step}-{other}") for other in range(world)):
            time.sleep(0.001)
    assert rccl.ncclCommInitRank(ctypes.byref(comm), world, Id(), rank) == 0
    assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t((rank + 1) << 20)) == 0
    for step in range(6):
        meet(step)
        if rank == 1:
            time.sleep(0.05)
        assert rccl.ncclAllReduce(pointer, pointer, 1024, 7, 0, comm, None) == 0
        hip.hipDeviceSynchronize()
    meet("end")
    if rank == 2:
        hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 60))
        sys.exit(3)
    """
)


@pytest.fixture(scope="module")
def job(build, tmp_path_factory):
    """Three ranks, each with a fade and a recording of its own."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "rank.py").write_text(RANK)
    (folder / "meeting").mkdir()
    running = []
    for rank in range(3):
        env = build.environment("v6", MEETING=str(folder / "meeting"), RANK=str(rank), WORLD_SIZE="3")
        env["LD_LIBRARY_PATH"] += f":{build.runtimes / 'libraries'}"
        words = [
            build.fade_run,
            "-q",
            "-e",
            "all,comm",
            "--step",
            "hipDeviceSynchronize",
            "-o",
            folder / f"run-{rank}.db",
            "--",
        ]
        running.append(subprocess.Popen([*words, "/usr/bin/python3", folder / "rank.py"], env=env, cwd=folder))
    assert [one.wait(timeout=120) for one in running] == [0, 0, 3]
    return folder


@pytest.fixture
def record(build, tmp_path):
    def run(name, words, *options):
        command = [build.fade_run, "-q", *options, "-o", tmp_path / name, "--", build.tracees / "parts", *words.split()]
        assert harness.run(command, build.environment("v6"), tmp_path).status == 0
        return tmp_path / name

    return run


def table(query, *words):
    answer = query(*words, "-f", "tsv")
    assert answer.returncode == 0, answer.stderr
    head, *lines = [line.split("\t") for line in answer.stdout.splitlines()]
    return [dict(zip(head, line)) for line in lines]


def total(rows, column):
    return sum(int(row[column] or 0) for row in rows)


def test_reports_of_the_merged_file_add_up(query, job, tmp_path):
    files = [job / f"run-{rank}.db" for rank in range(3)]
    merged = query("merge", *files, "-o", "all.db")
    assert merged.returncode == 0, merged.stderr
    assert "3 recordings with 3 sessions" in merged.stderr
    assert oct((tmp_path / "all.db").stat().st_mode)[-3:] == "600"
    for report, columns in {
        "top": ["calls", "errors"],
        "errors": ["repeats"],
        "steps": ["calls"],
        "library-calls": ["calls"],
    }.items():
        each = [table(query, file, report) for file in files]
        for column in columns:
            assert total(table(query, "all.db", report), column) == sum(total(rows, column) for rows in each) > 0
    sessions = harness.Database(tmp_path / "all.db").rows("SELECT id, clean FROM sessions")
    assert sessions == [(1, 1), (2, 1), (3, 1)]


def test_ranks_of_several_files_are_one_job(query, job):
    for words in ([str(job / "run-*.db")], [job / "run-0.db", job / "run-1.db", job / "run-2.db"]):
        page = " ".join(query(*words, "ranks", "-f", "table", COLUMNS="200").stdout.split())
        assert "job 3 ranks of 3" in page
        assert "first rank 2 after" in page and "exit status 3" in page
        assert "the others wait for rank 1: it entered 6 of 6 collective operations last" in page
        assert "clocks" not in page  # one machine has one clock


def test_clocks_of_several_machines_are_told(query, job, tmp_path):
    for rank in range(3):
        shutil.copy(job / f"run-{rank}.db", tmp_path)
        with sqlite3.connect(tmp_path / f"run-{rank}.db") as file:
            file.execute(f"UPDATE session_ SET host = 'node{rank}', boot_id = 'boot{rank}'")
    page = " ".join(query("run-*.db", "ranks", "-f", "table", COLUMNS="200").stdout.split())
    assert "times of 3 machines are compared by their own wall clocks" in page
    assert "node0" in page and "node2" in page


def test_reports_over_several_files_leave_nothing_behind(query, job, tmp_path):
    (tmp_path / "temporary").mkdir()
    answer = query("top", job / "run-0.db", job / "run-1.db", "-f", "tsv", TMPDIR=str(tmp_path / "temporary"))
    assert answer.returncode == 0 and "reading 2 recordings with 2 sessions" in answer.stderr
    one, other = (table(query, job / f"run-{rank}.db", "top") for rank in range(2))
    both = table(query, job / "run-0.db", job / "run-1.db", "top")
    assert total(both, "calls") == total(one, "calls") + total(other, "calls")
    assert list((tmp_path / "temporary").iterdir()) == []
    assert query(job / "run-0.db", job / "run-1.db", "-f", "table").returncode == 0  # the summary
    assert query(job / "run-*.db", "sql", "SELECT count(*) FROM sessions", "-f", "tsv").stdout.split()[-1] == "3"


def test_a_page_is_of_one_session(query, job, tmp_path):
    answer = query(job / "run-*.db", "page", "-o", "p.html")
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "p.html").stat().st_size > 10_000


@pytest.mark.parametrize("command", ["serve", "import", "index", "shell"])
def test_what_needs_a_file_takes_one(query, job, command):
    refused = query(job / "run-0.db", job / "run-1.db", command)
    assert refused.returncode == 2
    assert f"{command} takes one recording, not 2" in refused.stderr and "fade-query merge" in refused.stderr


def test_the_same_recording_counts_once(query, record, tmp_path):
    record("a.db", "alloc launch=4 free")
    shutil.copy(tmp_path / "a.db", tmp_path / "copy.db")
    os.link(tmp_path / "a.db", tmp_path / "link.db")
    record("b.db", "alloc")
    merged = query("merge", "a.db", "copy.db", "link.db", "b.db", "a.db", "-o", "all.db")
    assert merged.returncode == 0 and merged.stderr.count("left out") == 3
    assert total(table(query, "all.db", "top"), "calls") == total(table(query, "a.db", "top"), "calls") + total(
        table(query, "b.db", "top"), "calls"
    )


def test_a_merged_file_is_a_recording(query, record):
    """It can be merged again, read a session at a time, and exported."""
    record("a.db", "launch=2"), record("b.db", "launch=3"), record("c.db", "launch=4")
    assert query("merge", "a.db", "b.db", "-o", "ab.db").returncode == 0
    assert query("merge", "ab.db", "c.db", "-o", "abc.db").returncode == 0
    launches = {"ab.db": 5, "abc.db": 9}
    for name, n in launches.items():
        assert total(table(query, name, "kernels"), "launches") == n
    assert total(table(query, "abc.db", "kernels", "--session", "3"), "launches") == 4
    assert query("abc.db", "export", "-o", "t.pftrace").returncode == 0
    assert query("merge", "ab.db", "a.db", "-o", "again.db").stderr.count("left out") == 1
    twice = query("merge", "a.db", "ab.db", "-o", "again2.db")
    assert twice.returncode == 1 and "1 of its 2 sessions" in twice.stderr


def test_arguments_and_stacks_stay_with_their_calls(query, record, tmp_path):
    """Arguments of most calls lie packed in blocks, with the ids of their calls."""
    one = record("a.db", "alloc copy launch=40 free", "-k", "all")
    two = record("b.db", "alloc alloc copy launch=50 free", "-k", "all")
    assert query("merge", one, two, "-o", "all.db").returncode == 0
    columns = "--columns=name,args,start_ns,duration_ns,result"
    for session, file in ("1", one), ("2", two):
        alone, merged = query(file, "calls", columns, "-f", "tsv"), query(
            "all.db", "calls", columns, "-f", "tsv", "--session", session
        )
        assert alone.stdout.count("\n") > 40 and "{" in alone.stdout
        assert merged.stdout == alone.stdout
        assert (
            query("all.db", "stacks", "--columns=calls,frames", "--session", session, "-f", "tsv").stdout
            == query(file, "stacks", "--columns=calls,frames", "-f", "tsv").stdout
        )


# ---------------------------------------------------------------- files that are not whole, or none
def test_a_killed_and_a_running_recording_are_taken_as_they_are(build, query, record, tmp_path):
    record("a.db", "launch=2")
    target = subprocess.Popen(
        [build.fade_run, "-q", "-o", tmp_path / "b.db", "--", build.tracees / "parts", "launch=3", "wait"],
        env=build.environment("v6"), cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert target.stdout.readline() == b"waiting\n"
    end = time.monotonic() + 60
    while not (rows := table(query, "b.db", "kernels")) or total(rows, "launches") < 3:
        assert time.monotonic() < end
        time.sleep(0.1)
    running = query("merge", "a.db", "b.db", "-o", "running.db")
    assert running.returncode == 0 and "still being recorded" in running.stderr
    assert total(table(query, "running.db", "kernels"), "launches") == 5
    target.send_signal(signal.SIGKILL)
    target.wait()
    target.stdin.close()
    killed = query("merge", "a.db", "b.db", "-o", "killed.db")
    assert killed.returncode == 0 and "not closed cleanly" in killed.stderr
    assert total(table(query, "killed.db", "kernels"), "launches") == 5


@pytest.mark.parametrize("content", [b"", b"noise", b"SQLite format 3\0"], ids=["empty", "noise", "header"])
def test_a_file_that_is_no_recording_is_named(query, record, tmp_path, content):
    record("a.db", "launch=2")
    (tmp_path / "b.db").write_bytes(content and content + bytes(range(256)) * 80)
    refused = query("merge", "a.db", "b.db", "-o", "all.db")
    assert refused.returncode == 1 and "b.db" in refused.stderr
    assert sorted(path.name for path in tmp_path.glob("*.db*")) == ["a.db", "b.db"]


def test_other_databases_and_other_schemas_are_refused(query, record, tmp_path):
    record("a.db", "launch=2")
    with sqlite3.connect(tmp_path / "other.db") as file:
        file.execute("CREATE TABLE session_ (id)")
    shutil.copy(record("old.db", "launch=1"), tmp_path / "new.db")
    for name, version in ("old.db", 7), ("new.db", 99):
        with sqlite3.connect(tmp_path / name) as file:
            file.execute(f"PRAGMA user_version = {version}")
    for name, why in ("other.db", "something else"), ("old.db", "older fade"), ("new.db", "newer fade"):
        refused = query("merge", "a.db", name, "-o", "all.db")
        assert refused.returncode == 1 and why in refused.stderr
    assert not (tmp_path / "all.db").exists()


def test_what_exists_is_not_overwritten(query, record, tmp_path):
    record("a.db", "launch=2"), record("b.db", "launch=3")
    (tmp_path / "all.db").write_text("precious")
    assert "add --force" in query("merge", "a.db", "b.db", "-o", "all.db").stderr
    assert (tmp_path / "all.db").read_text() == "precious"
    for words in (["--force"], []):
        assert "one of the recordings" in query("merge", "a.db", "b.db", "-o", "b.db", *words).stderr
    assert total(table(query, "b.db", "kernels"), "launches") == 3
    assert query("merge", "a.db", "b.db", "-o", "all.db", "--force").returncode == 0


@pytest.mark.parametrize(
    "words", [["a.db", "-o", "all.db"], ["a.db", "b.db"], ["-o", "all.db"], ["no-*.db", "-o", "all.db"]]
)
def test_too_few_words(query, record, words):
    record("a.db", "launch=2"), record("b.db", "launch=3")
    refused = query("merge", *words)
    assert refused.returncode == 2 and "fade-query" in refused.stderr


def test_a_full_disk_leaves_no_half_file(build, record, tmp_path):
    record("a.db", "launch=2"), record("b.db", "launch=3")
    (tmp_path / "small").mkdir()
    mount = "mount -t tmpfs -o size=900k none small"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("needs a user namespace")
    script = f"{mount} && {build.fade_query} merge a.db b.db -o small/all.db; echo status $?; ls small"
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.stdout == "status 1\n", done.stdout + done.stderr
    assert "full" in done.stderr and "free space" in done.stderr


def test_a_signal_leaves_no_half_file(build, record, tmp_path):
    record("a.db", "launch=2")
    merging = subprocess.Popen(
        [build.fade_query, "merge", "a.db", *["a.db"] * 2000, "-o", "all.db"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while not (tmp_path / "all.db.part").exists() and merging.poll() is None:
        assert time.monotonic() < end
    merging.send_signal(signal.SIGTERM)
    merging.wait()
    if merging.returncode == -signal.SIGTERM:
        assert not list(tmp_path.glob("all.db*"))
