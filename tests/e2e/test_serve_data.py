"""fade-query serve: the answers about calls, works of GPUs and the trace, against SQL and export."""
import contextlib
import json
import shutil
import sqlite3
import subprocess

import harness
from page_recordings import record, train, worked  # noqa: F401
from queries import ENVIRONMENT
from serving import Server, server  # noqa: F401


def items_of(answer):
    return [
        dict(zip(["id", "start", "length", "name", "depth", "n", "errors"], item))
        for lane in answer["lanes"]
        if not lane["stream"]
        for item in lane["items"]
    ]


def test_the_data_are_those_of_the_page(build, server, train):
    file = subprocess.run(
        [build.fade_query, train, "page", "-o", "-"], env=ENVIRONMENT, capture_output=True, text=True, check=True
    ).stdout
    page = json.loads(file.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    data = server.ask("data.json", since=0)
    assert data["tables"] == page["tables"] and data["parts"] == page["parts"] and not data["live"]
    assert server.ask("data.json", since=data["version"])["parts"] == {}


def test_ranges_are_those_of_sql(server, train):
    database = harness.Database(train)
    first, last, calls = database.rows("SELECT min(start), max(start), count(*) FROM calls")[0]
    whole = server.ask("range.json", **{"from": 0, "to": last + 1, "width": 1000})
    assert whole["single"] and whole["calls"] == calls == sum(item["n"] for item in items_of(whole))
    for part in range(8):
        begin, end = first + (last - first) * part // 8, first + (last - first) * (part + 1) // 8
        answer = server.ask("range.json", **{"from": begin, "to": end, "width": 4000})
        assert answer["calls"] == database.value(f"SELECT count(*) FROM calls WHERE start >= {begin} AND start < {end}")
        inside = database.value(f'SELECT count(*) FROM calls WHERE start < {end} AND "end" > {begin}')
        assert sum(item["n"] for item in items_of(answer)) == inside
        names = answer["names"]
        for item in items_of(answer):
            if item["n"] == 1:
                assert database.rows(f"SELECT name, start, duration FROM calls WHERE id = {item['id']}") == [
                    (names[item["name"]], item["start"], item["length"])
                ]
    launches = sum(item[5] for lane in whole["lanes"] if lane["stream"] for item in lane["items"])
    assert launches == database.value(
        "SELECT count(*) FROM launches WHERE nth = 0 AND stream IS NOT NULL AND captured = 0"
    )


def test_three_hundred_threads(build, record):
    path = record("threads 300 3")
    with Server(build, path) as server:
        whole = server.ask("range.json", **{"from": 0, "to": 10**12, "width": 1000})
        data = server.ask("data.json", since=0)
    threads = harness.Database(path).value("SELECT count(DISTINCT thread_id) FROM calls")
    assert threads >= 300 and whole["left_out"] + len(whole["lanes"]) == threads
    assert not [name for name, part in data["parts"].items() if "error" in part]


def test_a_call_has_its_arguments_and_its_stack(server, train):
    database = harness.Database(train)
    call, stack = database.rows(
        "SELECT id, stack FROM calls WHERE name = 'hipModuleLaunchKernel' AND stack IS NOT NULL LIMIT 1"
    )[0]
    answer = server.ask("call.json", id=call)
    assert (
        answer["name"] == "hipModuleLaunchKernel"
        and answer["stack"] == stack
        and dict(answer["args"])["gridDimX"] == "4"
    )
    assert any("train.py" in frame["place"] for frame in answer["frames"])
    assert answer["duration"] == database.value(f"SELECT duration FROM calls WHERE id = {call}")


def with_many_calls(train, folder, calls):
    """The same recording with copies of its first call: 100,000 a second in ten threads, and one that takes long."""
    path = folder / "many.db"
    shutil.copy(train, path)
    database = sqlite3.connect(path)
    database.execute("DELETE FROM call_")
    database.execute(
        "INSERT INTO thread_ (id, process, tid, ts) SELECT 100 + value, 1, 5000 + value, 0 "
        "FROM json_each('[0,1,2,3,4,5,6,7,8,9]')"
    )
    database.execute(
        "WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < ?) "
        "INSERT INTO call_ (id, ts, dur, thread, fn) "
        "SELECT n, n * 10000, iif(n = 10, 400000000, 2000), 100 + n % 10, (SELECT min(id) FROM function_) FROM g",
        (calls,),
    )
    database.execute("UPDATE session_ SET last_call = ?", (calls,))
    database.commit()
    database.close()
    return path


def test_too_many_calls_are_columns(build, train, tmp_path):
    path = with_many_calls(train, tmp_path, 100_000)
    with Server(build, path) as server:
        whole = server.ask("range.json", **{"from": 0, "to": 1_000_010_000, "width": 1000})
        assert not whole["single"] and whole["calls"] == 100_000 == sum(
            column[1] for column in whole["lanes"][0]["columns"]
        )
        part = server.ask("range.json", **{"from": 150_000_000, "to": 151_000_000, "width": 1000})
        assert part["single"] and part["calls"] == 100 and any(item["id"] == 10 for item in items_of(part))


def works_of(answer):
    """(name, start, end, call) of works that are drawn alone."""
    names = answer["work"]["names"]
    return {
        (names[name], start, start + length, call)
        for lane in answer["work"]["lanes"]
        for call, start, length, name, _, n, _ in lane["items"]
        if n == 1
    }


def test_works_of_gpus_are_those_of_sql(build, worked):
    database = harness.Database(worked)
    first, last, works = database.rows('SELECT min(start), max("end"), count(*) FROM gpu_work')[0]
    select = "SELECT name, start, \"end\", coalesce(call, 0) FROM gpu_work WHERE kind <> 'barrier' AND "
    with Server(build, worked) as server:
        whole = server.ask("range.json", **{"from": 0, "to": last + 1, "width": 1000})["work"]
        assert whole["single"] and whole["works"] == works
        assert sum(item[5] for lane in whole["lanes"] for item in lane["items"]) == works
        assert {lane["name"] for lane in whole["lanes"]} >= {"GPU 0 queue 1", "GPU 0 copies"}
        for part in range(40):
            begin, end = first + (last - first) * part // 40, first + (last - first) * (part + 1) // 40
            answer = server.ask("range.json", **{"from": begin, "to": end, "width": 4000})
            told = set(database.rows(f'{select} start < {end} AND "end" > {begin}'))
            assert answer["work"]["works"] == len(told) and works_of(answer) <= told
            assert sum(item[5] for lane in answer["work"]["lanes"] for item in lane["items"]) == len(told)


def test_works_of_the_newest_session_alone(build, worked, record, tmp_path):
    path = tmp_path / "two.db"
    shutil.copy(worked, path)
    harness.run(
        [build.fade_run, "-q", "--append", "-o", path, "--", *build.command("calls")], build.environment("v6"), tmp_path
    )
    with Server(build, path) as server:
        assert server.ask("range.json", **{"from": 0, "to": 10**12, "width": 1000})["work"] is None
    with Server(build, path, "--session", "1") as server:
        assert server.ask("range.json", **{"from": 0, "to": 10**12, "width": 1000})["work"]["works"] > 0


def test_too_many_works_are_told(build, worked, tmp_path):
    path = tmp_path / "many.db"
    shutil.copy(worked, path)
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM gpu_work_")
        database.execute(
            "WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < 200000) "
            "INSERT INTO gpu_work_ (id, process, kind, device, queue, ts, dur) "
            "SELECT n, 1, 0, (SELECT min(id) FROM device_ WHERE ordinal = 0), 1, n * 1000, 500 FROM g"
        )
    with Server(build, path) as server:
        whole = server.ask("range.json", **{"from": 0, "to": 10**9, "width": 1000})["work"]
        assert not whole["single"] and whole["works"] == 200_000
        part = server.ask("range.json", **{"from": 100_000_000, "to": 100_100_000, "width": 1000})["work"]
        assert part["single"] and part["works"] == 100


def test_the_trace_is_that_of_export(build, server, train):
    exported = subprocess.run(
        [build.fade_query, train, "export", "--format", "perfetto", "-o", "-"],
        env=ENVIRONMENT,
        capture_output=True,
        check=True,
    ).stdout
    connection = server.connect()
    connection.request("GET", server.path + "trace.pftrace")
    answer = connection.getresponse()
    assert answer.read() == exported and "trace.pftrace" in answer.getheader("Content-Disposition")
    connection.request("GET", server.path + "trace.pftrace?from=0&to=1")  # on the same connection
    assert len(connection.getresponse().read()) < len(exported)
    connection.close()


def test_an_empty_recording_has_a_page(build, record):
    with Server(build, record("", program=["/bin/true"])) as server:
        data = server.ask("data.json", since=0)
        assert data["parts"]["timeline"]["notes"] and data["parts"]["memory"]["nothing"]
        assert server.ask("range.json", **{"from": 0, "to": 10**9, "width": 1000})["calls"] == 0
        assert "error" in server.ask("call.json", id=1)
