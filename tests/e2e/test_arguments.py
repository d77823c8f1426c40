"""Arguments of every call: kept, shown by each way to ask for them, and there as far as fade came when it is killed."""
import json
import os
import sqlite3
import subprocess
import sys
import time

import pytest

import harness
from queries import ENVIRONMENT

ROUNDS = 1000
FUNCTIONS = ["hipDeviceGetAttribute", "hipFree", "hipMalloc", "hipMemset"]


def recorded(build, folder, *options, rounds=ROUNDS):
    command = [build.fade_run, "-q", "-o", folder / "a.db", *options, "--", build.tracees / "arguments", str(rounds)]
    assert harness.run(command, build.environment("v6"), folder).status == 0
    return folder / "a.db"


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    return recorded(build, tmp_path_factory.mktemp("arguments"))


def ask(build, *words):
    return subprocess.run([build.fade_query, *map(str, words)], env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=120)


def exported(build, path):
    done = ask(build, path, "export")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def check_rounds(calls):
    """The arguments as the program made them, call by call."""
    sizes = [c["args"]["size"] for c in calls if c["function"] == "hipMalloc"]
    assert sizes == [4096 + i for i in range(len(sizes))]
    sets = [c["args"] for c in calls if c["function"] == "hipMemset"]
    assert [(a["value"], a["sizeBytes"]) for a in sets] == [(i % 256, 4096 + i) for i in range(len(sets))]
    given = [c["args"]["ptr"] for c in calls if c["function"] == "hipMalloc"]
    assert [a["dst"] for a in sets] == given[:len(sets)]
    freed = [c["args"]["ptr"] for c in calls if c["function"] == "hipFree"]
    assert freed == given[:len(freed)]
    failed = [c["args"]["deviceId"] for c in calls if c["failed"]]
    assert failed == [1000 + i for i in range(len(failed))]


def test_every_call_has_its_arguments(build, recording):
    calls, said = exported(build, recording)
    assert len(calls) == 6 * ROUNDS and said == ""
    assert [c for c in calls if c["args"] is None] == []
    assert len([c for c in calls if c["failed"]]) == ROUNDS
    check_rounds(calls)


def test_sql_and_the_report_show_them(build, recording):
    done = ask(build, recording, "sql", "SELECT count(*), sum(args IS NULL) FROM calls", "-f", "tsv", "--no-header")
    assert done.stdout.split() == [str(6 * ROUNDS), "0"], done.stderr
    last = ask(build, recording, "sql", "SELECT args FROM calls WHERE name = 'hipMemset' ORDER BY id DESC LIMIT 1",
               "-f", "json")
    assert json.loads(json.loads(last.stdout)[0]["args"])["sizeBytes"] == 4096 + ROUNDS - 1
    shown = ask(build, recording, "calls", "--name", "hipMalloc", "-f", "json", "--limit", "0")
    assert len([row for row in json.loads(shown.stdout) if row["args"]]) == ROUNDS


def test_other_readers_see_the_first_and_where_the_rest_is(recording):
    with sqlite3.connect(recording) as db:
        seen = dict(db.execute("SELECT name, count(args) FROM calls GROUP BY name"))
        assert all(seen[name] == 200 for name in FUNCTIONS)
        kept = db.execute("SELECT calls, missing, as_text + packed FROM arguments_kept").fetchone()
        assert kept == (6 * ROUNDS, 0, 6 * ROUNDS)
        packed, size = db.execute("SELECT sum(calls), sum(bytes) FROM arg_blocks").fetchone()
        assert packed == 6 * ROUNDS - 200 * 5
        assert size < 20 * packed


def test_detail_full_keeps_text_and_detail_stats_nothing(build, tmp_path):
    with sqlite3.connect(recorded(build, tmp_path, "--detail", "full", rounds=300)) as db:
        assert db.execute("SELECT calls, as_text, packed FROM arguments_kept").fetchone() == (1800, 1800, 0)
    with sqlite3.connect(recorded(build, tmp_path, "--force", "--detail", "stats", rounds=300)) as db:
        assert db.execute("SELECT calls, packed, missing FROM arguments_kept").fetchone() == (0, 0, 0)


def test_the_size_limit_holds_and_calls_that_are_there_have_theirs(build, tmp_path):
    path = recorded(build, tmp_path, "--max-size", "3M", "--on-full", "drop-calls", rounds=12000)
    assert os.path.getsize(path) <= 1.05 * (3 << 20)
    with sqlite3.connect(path) as db:
        calls, missing = db.execute("SELECT calls, missing FROM arguments_kept").fetchone()
        assert 0 < calls < 72000 and missing == 0


def test_a_killed_fade_leaves_the_blocks_it_wrote(build, tmp_path):
    path = tmp_path / "a.db"
    command = [build.fade_run, "-q", "-o", path, "--", build.tracees / "arguments", "1000000"]
    with subprocess.Popen([str(word) for word in command], env=build.environment("v6"),
                          cwd=tmp_path, start_new_session=True) as fade:
        deadline = time.monotonic() + 60
        while blocks(path) < 8:
            assert time.monotonic() < deadline and fade.poll() is None
            time.sleep(0.05)
        pids = [int(pid) for pid in open(f"/proc/{fade.pid}/task/{fade.pid}/children").read().split()]
        fade.kill()
    for pid in pids:
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            pass
    calls, _ = exported(build, path)
    have = [c for c in calls if c["args"] is not None]
    assert len(have) > 1200
    check_rounds([c for c in calls[:len(calls) // 2] if c["args"] is not None])


def blocks(path):
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
            return db.execute("SELECT count(*) FROM arg_blocks").fetchone()[0]
    except sqlite3.Error:
        return 0


def test_a_damaged_block_is_no_answer(build, recording, tmp_path):
    copy = tmp_path / "damaged.db"
    copy.write_bytes(recording.read_bytes())
    with sqlite3.connect(copy) as db:
        db.execute("UPDATE arg_block_ SET data = substr(data, 1, 20)")
        db.execute("UPDATE arg_signature_ SET text = '[7]' WHERE fn = (SELECT min(fn) FROM arg_signature_)")
    done = ask(build, copy, "sql", "SELECT count(args) FROM calls", "-f", "tsv", "--no-header")
    assert done.returncode == 0 and done.stdout.strip() == "1000", done.stderr


def test_texts_that_functions_return_are_shown(build, tmp_path):
    """As the result: in the row, the export and the trace."""
    command = [build.fade_run, "-q", "-o", tmp_path / "a.db", "--", build.tracees / "errors"]
    assert harness.run(command, build.environment("v6"), tmp_path).status == 0
    calls, _ = exported(build, tmp_path / "a.db")
    names = [c["result_name"] for c in calls if c["function"] == "hipGetErrorName"]
    assert names[0] == '"hipErrorOutOfMemory"' and names[4] == '"hipErrorInvalidDevice"'
    assert '"out of memory"' in ask(build, tmp_path / "a.db", "calls", "--name", "hipGetErrorString").stdout
    traced = subprocess.run([build.folder / "cli" / "trace" / "fade-trace", build.tracees / "errors"],
                            env={**ENVIRONMENT, **build.environment("v6")}, cwd=tmp_path,
                            capture_output=True, text=True, timeout=120)
    assert '= "hipErrorOutOfMemory"' in traced.stderr

def test_a_text_behind_an_out_parameter_is_shown(build, tmp_path):
    program = ("import ctypes; name = ctypes.c_char_p(); print(ctypes.CDLL('libamdhip64.so.6').hipDrvGetErrorName(1, "
               "ctypes.byref(name)), name.value)")
    done = harness.run([build.fade_run, "-q", "-o", tmp_path / "a.db", "--", sys.executable, "-c", program],
                       build.environment("v6"), tmp_path)
    assert done.stdout == b"0 b'hipErrorInvalidValue'\n", done
    calls, _ = exported(build, tmp_path / "a.db")
    assert [c["args"]["errorString"] for c in calls] == ["hipErrorInvalidValue"]
