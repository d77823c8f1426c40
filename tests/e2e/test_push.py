"""Recordings in ClickHouse: fade-query push, also along with a recording, and sides that die. The servers are real."""
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import pytest

import clickhouse
import harness
from daemons import wait_until
from pushes import many_calls, push, record, run_with_push, start_push, view_rows  # noqa: F401 (fixture)
from queries import ENVIRONMENT

pytestmark = pytest.mark.skipif(not clickhouse.PROGRAM, reason="no clickhouse-server: docker/install-deps.sh test")

CALLS = 1_200_000  # of the big recording
LATER = 75  # exit status: not all was sent, a later attempt may do better
ROWS = ["calls", "launches", "copies", "gpu_work"]


@pytest.fixture(scope="module")
def server(tmp_path_factory, build):
    one = clickhouse.Server(clickhouse.folder_of(tmp_path_factory, "clickhouse")).start()
    assert push(build, one.url, "--init").returncode == 0
    yield one
    one.stop()


@pytest.fixture(scope="module")
def pair(tmp_path_factory, build):
    shards = [clickhouse.Server(clickhouse.folder_of(tmp_path_factory, f"shard{i}")) for i in range(2)]
    for shard in shards:
        shard.start(shards)
    for shard in shards:
        assert push(build, shard.url, "--init", "--cluster", "pair").returncode == 0
    yield shards
    for shard in shards:
        shard.stop()


@pytest.fixture(scope="module")
def big(build, tmp_path_factory):
    """Ten ranges of ids."""
    folder = tmp_path_factory.mktemp("big")
    command = [
        build.fade_run,
        "-q",
        "-o",
        folder / "big.db",
        "--",
        build.tracees / "parts",
        *"alloc count fail sync free".split(),
    ]
    assert harness.run(command, build.environment("v6"), folder).status == 0
    return many_calls(folder / "big.db", CALLS)


def number_of(server, path):
    """The server's number of the recording in a file."""
    return server.number(f"SELECT any(recording) FROM recordings WHERE file = '{path}'")


def columns_of(server, table):
    given = ("day", "job", "host", "recording", "rank", "snapshot")
    return [
        name
        for name, in server.ask(f"SELECT name FROM system.columns WHERE database = 'fade' AND table = '{table}'")
        if name not in given
    ]


def as_tsv(value):
    if value is None:
        return "\\N"
    text = str(value)
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("'", "\\'")


def test_the_tables_have_the_rows_of_the_views(build, server, record):
    path = record("alloc copy launch=6 count fail sync free", "run.db", "--step", "hipDeviceSynchronize")
    sent = push(build, server.url, path)
    assert sent.returncode == 0, sent.stderr
    recording = number_of(server, path)
    listed = (
        line.split("\t")
        for line in (harness.pathlib.Path(__file__).parents[2] / "schema/clickhouse/push.tsv").read_text().splitlines()
        if not line.startswith("#")
    )
    compared = 0
    for table, _ in listed:
        if table in ("recordings", "collective_calls", "rank_steps"):
            continue
        columns = [
            name
            for name in columns_of(server, table)
            if not any(word in name for word in ("vs_median", "share", "percent", "buckets"))
        ]
        names = ", ".join(f'"{name}"' for name in columns)
        there = server.ask(f"SELECT {names} FROM {table} WHERE recording = {recording}", "fade")
        here = [[as_tsv(value) for value in row] for row in view_rows(path, f'SELECT {names} FROM "{table}"')]

        def plain(rows):  # a text or number that is a part of a key has '' or 0 for NULL
            return sorted(["\\N" if value in ("", "0") else value for value in row] for row in rows)

        assert plain(there) == plain(here), table
        compared += len(here)
    assert compared > 60
    facts = server.ask(
        f"SELECT complete, closed, pid, command, schema FROM recordings WHERE recording = {recording}", "fade"
    )
    ((pid, command),) = view_rows(path, "SELECT pid, command FROM processes")
    assert facts == [["1", "1", str(pid), command, "8"]]


def test_sent_again_there_is_nothing_twice(build, server, record):
    path = record(name="again.db")
    assert push(build, server.url, path).returncode == 0
    (
        recording,
        (calls,),
    ) = number_of(
        server, path
    ), *view_rows(path, "SELECT count(*) FROM calls")
    again = push(build, server.url, path)
    assert again.returncode == 0 and "has all of it already" in again.stderr
    copy = shutil.copy(path, path.with_name("copy.db"))  # another file with the same recording
    with sqlite3.connect(copy) as db:
        db.execute("CREATE TABLE changed (x)")
    db.close()
    assert "sent " in push(build, server.url, copy).stderr
    assert server.number(f"SELECT count() FROM calls WHERE recording = {recording}") == calls
    assert (
        server.number(f"SELECT count() FROM call_stats WHERE recording = {recording}")
        == view_rows(path, "SELECT count(*) FROM call_stats")[0][0]
    )
    assert server.number(f"SELECT count() FROM recordings WHERE recording = {recording}") == 1


def test_only_the_rows_that_the_server_lacks_are_sent(build, server, big, tmp_path):
    path = shutil.copy(big, tmp_path / "lacks.db")
    with sqlite3.connect(path) as db:
        db.execute("UPDATE session_ SET boot_ns = boot_ns + 1")  # a recording of its own
    db.close()
    assert push(build, server.url, path).returncode == 0
    recording = number_of(server, path)
    server.ask(f"ALTER TABLE calls DELETE WHERE recording = {recording} AND id % 7 = 0 AND id < 300000", "fade")
    wait_until(lambda: server.number("SELECT count() FROM system.mutations WHERE NOT is_done") == 0, "the deletion")
    assert 0 < server.number(f"SELECT count() FROM calls WHERE recording = {recording}") < CALLS
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE changed (x)")
    db.close()
    assert push(build, server.url, path).returncode == 0
    assert server.ask(f"SELECT count(), uniqExact(id), sum(id) FROM calls WHERE recording = {recording}", "fade") == [
        [str(CALLS), str(CALLS), str(CALLS * (CALLS + 1) // 2)]
    ]


def wait_for_rows(server, recording_of, process):
    """Until the server has some rows of calls but not all."""
    for _ in range(4000):
        if (rows := server.number(recording_of)) > 0:
            return rows
        assert process.poll() is None, process.stdout.read()
    raise AssertionError("no row came")


def own_recording(path, to, number):
    shutil.copy(path, to)
    with sqlite3.connect(to) as db:
        db.execute("UPDATE session_ SET boot_ns = boot_ns + ?", [number])
    db.close()
    return to


def test_a_killed_client_goes_on_where_it_was(build, server, big, tmp_path):
    path = own_recording(big, tmp_path / "killed.db", 2)
    calls = "SELECT count() FROM calls WHERE job = 'killed'"
    for _ in range(3):
        process = start_push(build, server.url, path, "--job", "killed")
        wait_for_rows(server, calls, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert push(build, server.url, path, "--job", "killed").returncode == 0
    assert server.ask("SELECT count(), uniqExact(id) FROM calls WHERE job = 'killed'", "fade") == [
        [str(CALLS), str(CALLS)]
    ]
    assert (
        server.number("SELECT sum(calls) FROM call_stats WHERE job = 'killed'")
        == view_rows(path, "SELECT sum(calls) FROM call_stats")[0][0]
    )


def test_a_server_that_is_killed_and_comes_back_gets_the_rest(build, big, tmp_path, tmp_path_factory):
    server = clickhouse.Server(clickhouse.folder_of(tmp_path_factory, "dies")).start()
    try:
        assert push(build, server.url, "--init").returncode == 0
        process = start_push(build, server.url, big)
        wait_for_rows(server, "SELECT count() FROM calls", process)
        process.send_signal(signal.SIGSTOP)  # so that it has not sent all before the server is killed
        assert server.number("SELECT count() FROM calls") < CALLS
        server.kill()
        process.send_signal(signal.SIGCONT)
        time.sleep(1)
        server.start()
        said = process.communicate(timeout=120)[0]
        assert process.returncode == 0, said
        assert "trying again" in said and "sent " in said
        assert server.ask("SELECT count(), uniqExact(id) FROM calls", "fade") == [[str(CALLS), str(CALLS)]]
    finally:
        server.stop()


def test_a_refused_connection_ends_with_a_status_of_its_own(build, record):
    refused = push(build, f"http://127.0.0.1:{clickhouse.free_port()}", record(), "--timeout", "1s")
    assert refused.returncode == LATER
    assert "cannot reach http://127.0.0.1" in refused.stderr and "sends the rest" in refused.stderr


def test_a_wrong_password_is_told_at_once(build, server, record):
    wrong = push(build, server.url, record(), CLICKHOUSE_PASSWORD="wrong")
    assert wrong.returncode == 1
    assert "refuses the user or the password" in wrong.stderr and "--password-file" in wrong.stderr


def test_the_password_may_be_in_a_file_and_never_in_the_address(build, server, record, tmp_path):
    (tmp_path / "password").write_text("secret\n")
    sent = push(
        build,
        server.url,
        record(),
        "--user",
        "fade",
        "--password-file",
        tmp_path / "password",
        CLICKHOUSE_PASSWORD="",
        CLICKHOUSE_USER="",
    )
    assert sent.returncode == 0, sent.stderr
    refused = push(build, server.url.replace("http://", "http://fade:secret@"), record(name="b.db"))
    assert refused.returncode == 2
    assert "secret" not in refused.stderr and "CLICKHOUSE_PASSWORD" in refused.stderr


def test_a_server_without_the_tables_is_told_apart(build, server, record):
    path = record()
    empty = push(build, server.url + "/?database=nothing", path)
    assert empty.returncode == 1 and "no tables of fade" in empty.stderr and "--init" in empty.stderr
    other = push(build, f"http://127.0.0.1:{server.tcp}", path, "--timeout", "100ms")
    assert other.returncode in (1, LATER) and "cannot" in other.stderr


def test_what_is_no_clickhouse_is_told(build, record):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def answer():
            while True:
                try:
                    one, _ = listener.accept()
                except OSError:
                    return
                one.recv(4096)
                one.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                one.close()

        threading.Thread(target=answer, daemon=True).start()
        said = push(build, f"http://127.0.0.1:{listener.getsockname()[1]}", record())
        listener.shutdown(socket.SHUT_RDWR)
    assert said.returncode == 1 and "not the HTTP port of a ClickHouse server" in said.stderr


def test_tables_of_other_versions_are_refused_or_brought_up(build, server, record):
    path, url = record(), server.url + "/?database=versions"
    assert push(build, url, "--init").returncode == 0
    server.ask("INSERT INTO fade_schema VALUES (99, '', now())", "versions")
    newer = push(build, url, path)
    assert newer.returncode == 1 and "of a newer fade" in newer.stderr
    server.ask("ALTER TABLE fade_schema DELETE WHERE version > 0", "versions")
    server.ask("INSERT INTO fade_schema VALUES (0, '', now())", "versions")
    server.ask("DROP TABLE waits", "versions")
    server.ask("DROP TABLE recordings", "versions")
    server.ask("ALTER TABLE recordings_all DROP COLUMN stamp", "versions")
    wait_until(lambda: server.number("SELECT count() FROM fade_schema", "versions") == 1, "the deletion")
    older = push(build, url, path)
    assert older.returncode == 1 and "of an older fade" in older.stderr and "--init" in older.stderr
    assert push(build, url, "--init").returncode == 0
    sent = push(build, url, path)
    assert sent.returncode == 0, sent.stderr
    assert server.ask("SELECT count(), max(stamp) > '' FROM recordings", "versions") == [["1", "1"]]


def test_merged_files_are_refused(build, record, tmp_path):
    subprocess.run(
        [build.fade_query, "merge", record(name="a.db"), record(name="b.db"), "-o", tmp_path / "all.db"],
        check=True,
        env=ENVIRONMENT,
        capture_output=True,
    )
    refused = push(build, "http://127.0.0.1:1", tmp_path / "all.db")
    assert refused.returncode == 1 and "merged of several files" in refused.stderr


def test_a_full_disk_of_the_server_is_told(build, big, tmp_path_factory):
    folder = clickhouse.folder_of(tmp_path_factory, "full")
    server = clickhouse.Server(folder)
    (folder / "data").mkdir()
    program = folder / "server"
    program.write_text(
        f"#!/bin/sh\nmount -t tmpfs -o size=12m none {folder}/data && mkdir {folder}/data/tmp &&"
        f' exec {clickhouse.PROGRAM} "$@"\n'
    )
    program.chmod(0o755)
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0:
        pytest.skip("no user namespaces here")
    try:
        server.start(program=["unshare", "-rm", program])
        assert push(build, server.url, "--init").returncode == 0
        full = push(build, server.url, big)
        assert full.returncode == 1 and "the disk of the server is full" in full.stderr, full.stderr
    finally:
        server.stop()


def test_two_shards_share_recordings_and_answer_as_one(build, pair, record):
    paths = [record(name=f"rank{i}.db", RANK=str(i), WORLD_SIZE="8") for i in range(8)]
    sent = push(build, pair[0].url, *paths, "--job", "eight")
    assert sent.returncode == 0, sent.stderr
    again = push(build, pair[1].url, *paths, "--job", "eight")  # by the other server
    assert again.returncode == 0 and again.stderr.count("has all of it already") == 8
    calls = sum(view_rows(path, "SELECT count(*) FROM calls")[0][0] for path in paths)
    stats = sum(view_rows(path, "SELECT sum(calls) FROM call_stats")[0][0] for path in paths)
    for shard in pair:
        assert shard.number("SELECT count() FROM calls WHERE job = 'eight'") == calls
        assert shard.number("SELECT sum(calls) FROM call_stats WHERE job = 'eight'") == stats
        assert shard.ask("SELECT rank FROM recordings WHERE job = 'eight' ORDER BY rank", "fade") == [
            [str(i)] for i in range(8)
        ]
        assert (
            shard.ask("SELECT count(), uniqExact(rank) FROM call_stats WHERE job = 'eight' AND rank IS NULL", "fade")[
                0
            ][0]
            == "0"
        )
    parts = [shard.number("SELECT uniqExact(recording) FROM calls_ WHERE job = 'eight'") for shard in pair]
    assert sum(parts) == 8 and all(parts), parts


def test_rows_come_along_with_a_recording_that_goes_on(build, server, tmp_path):
    path = tmp_path / "goes-on.db"
    words = [build.fade_run, "-q", "-o", path, "--", build.tracees / "parts", *"alloc launch=9 wait copy free".split()]
    program = subprocess.Popen(
        words, env=build.environment("v6"), cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert program.stdout.readline() == b"waiting\n"
    process = start_push(build, server.url, path, "--follow", "--every", "100ms", "--job", "follow")
    wait_for_rows(server, "SELECT count() FROM calls WHERE job = 'follow'", process)
    wait_for_rows(server, "SELECT count() FROM recordings WHERE job = 'follow' AND complete = 0", process)
    program.communicate(b"\n")
    said = process.communicate(timeout=60)[0]
    assert program.returncode == 0 and process.returncode == 0, said
    assert (
        server.number("SELECT count() FROM calls WHERE job = 'follow'")
        == view_rows(path, "SELECT count(*) FROM calls")[0][0]
    )
    assert server.ask("SELECT complete, closed FROM recordings WHERE job = 'follow'", "fade") == [["1", "1"]]
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("goes-on")] == ["goes-on.db"]


def test_fade_run_sends_while_the_program_runs(build, server, tmp_path):
    program = run_with_push(build, tmp_path, server.url, "along")
    assert program.stdout.readline() == b"waiting\n"
    for _ in range(400):  # the first snapshot
        if server.number("SELECT count() FROM recordings WHERE job = 'along' AND complete = 0"):
            break
        time.sleep(0.05)
    said = program.communicate(b"\n", timeout=60)[1].decode()
    assert program.returncode == 0 and "sent " in said, said
    assert (
        server.number("SELECT count() FROM calls WHERE job = 'along'")
        == view_rows(tmp_path / "along.db", "SELECT count(*) FROM calls")[0][0]
    )
    assert server.ask("SELECT complete FROM recordings WHERE job = 'along'", "fade") == [["1"]]


def test_a_server_that_is_away_costs_the_program_nothing_but_rows(build, tmp_path):
    url = f"http://127.0.0.1:{clickhouse.free_port()}"
    program = run_with_push(build, tmp_path, url, "away", "alloc free", "--push-wait", "1s")
    said = program.communicate(timeout=60)[1].decode()
    assert program.returncode == 0
    assert "away.db are not on the server yet: fade-query push" in said, said
    assert view_rows(tmp_path / "away.db", "SELECT count(*) FROM calls WHERE state = 'returned'")[0][0] == 2


def test_the_pusher_outlives_a_killed_fade_run(build, server, tmp_path):
    program = run_with_push(build, tmp_path, server.url, "orphan")
    assert program.stdout.readline() == b"waiting\n"
    for _ in range(400):
        if server.number("SELECT count() FROM recordings WHERE job = 'orphan'"):
            break
        time.sleep(0.05)
    program.send_signal(signal.SIGKILL)
    program.stdin.close()
    for _ in range(400):
        if server.number("SELECT count() FROM snapshots WHERE job = 'orphan' AND name = 'recordings'") >= 2:
            break
        time.sleep(0.05)
    program.wait()
    assert (
        server.number("SELECT count() FROM calls WHERE job = 'orphan'")
        == view_rows(tmp_path / "orphan.db", "SELECT count(*) FROM calls")[0][0]
    )
    assert server.ask("SELECT closed, complete FROM recordings WHERE job = 'orphan'", "fade") == [["0", "0"]]


@pytest.mark.parametrize(
    "words, said",
    [
        (["--push", "http://127.0.0.1:1", "--trigger", "error", "--", "true"], "exclude each other"),
        (["--push-wait", "1s", "--", "true"], "--push-wait is for --push"),
        (["--push", "http://a:b@127.0.0.1:1", "--", "true"], "a user or a password in it"),
    ],
)
def test_fade_run_refuses_what_does_not_go_together(build, tmp_path, words, said):
    ran = subprocess.run([build.fade_run, *words], cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT)
    assert ran.returncode == 2 or ran.returncode == 125
    assert said in ran.stderr
