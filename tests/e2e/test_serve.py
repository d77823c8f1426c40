"""fade-query serve: who is answered, what is answered, and the page in a real browser."""
import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse

import pytest

import harness
from page_recordings import (  # noqa: F401
    HOSTILE,
    PATIENCE,
    chromium,
    record,
    train,
    under_way,
    wait_for,
    with_hostile_names,
    worked,
)
from queries import ENVIRONMENT

ENDLESS = "WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g) SELECT max(n) FROM g"


class Server:
    """A running fade-query serve."""

    def __init__(self, build, path, *options, **variables):
        self.process = subprocess.Popen(
            [build.fade_query, path, "serve", *options],
            cwd=path.parent,
            env={**ENVIRONMENT, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address, self.process.stderr.read()
        parts = urllib.parse.urlsplit(self.address)
        self.port, self.path, self.host = parts.port, parts.path, parts.netloc

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def get(self, path, method="GET", **headers):
        connection = self.connect()
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        connection.close()
        return answer

    def ask(self, name, **parameters):
        answer = self.get(f"{self.path}{name}?{urllib.parse.urlencode(parameters)}")
        assert answer.status == 200, (name, answer.status)
        return json.loads(answer.text)

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


@pytest.fixture(scope="module")
def server(build, train):
    with Server(build, train) as running:
        yield running


def items_of(answer):
    return [
        dict(zip(["id", "start", "length", "name", "depth", "n", "errors"], item))
        for lane in answer["lanes"]
        if not lane["stream"]
        for item in lane["items"]
    ]


def test_only_the_token_is_let_in(server):
    assert server.get(server.path).status == 200
    wrong = server.path[:-2] + ("0/" if server.path[-2] != "0" else "1/")
    refusals = {
        server.get(path).text for path in ("/", "/favicon.ico", wrong, wrong + "data.json", server.path[:-3] + "/")
    }
    assert refusals == {"Forbidden\n"}
    assert {server.get(path, "POST").status for path in ("/", wrong)} == {403}
    assert server.get(server.path + "none.json").status == 404
    moved = server.get(server.path[:-1])
    assert (moved.status, moved.getheader("Location")) == (308, server.path)


def test_pages_of_other_sites_are_refused(server):
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example"):
        assert server.get(server.path, Host=host).status == 403
    assert server.get(server.path, Host="localhost:1234").status == 200  # a tunnel
    for origin in ("http://evil.example", "null"):
        assert server.get(server.path + "data.json", Origin=origin).status == 403
    assert server.get(server.path + "data.json", Origin=f"http://{server.host}").status == 200


def test_only_get_is_answered(server):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
        answer = server.get(server.path, method)
        assert (answer.status, answer.getheader("Allow")) == (405, "GET"), method


def test_headers_forbid_foreign_scripts_and_copies(server):
    for name in ("", "data.json"):
        answer = server.get(server.path + name)
        assert (
            answer.getheader("Cache-Control") == "no-store" and answer.getheader("X-Content-Type-Options") == "nosniff"
        )
        assert answer.getheader("Referrer-Policy") == "no-referrer" and answer.getheader("X-Frame-Options") == "DENY"
        policy = answer.getheader("Content-Security-Policy")
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert answer.getheader("Access-Control-Allow-Origin") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_another_user_is_refused_though_he_has_the_token(server):
    ask = (
        "import http.client, sys; c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1])); "
        "c.request('GET', sys.argv[2]); "
        "print(c.getresponse().status)"
    )
    command = [sys.executable, "-c", ask, str(server.port), server.path]
    assert subprocess.run(command, capture_output=True, text=True, cwd="/").stdout == "200\n"
    assert subprocess.run(command, capture_output=True, text=True, cwd="/", user=65534, group=65534).stdout == "403\n"


def test_another_address_with_a_port_of_the_user_is_refused(server):
    own = server.connect()
    own.request("GET", server.path)
    assert own.getresponse().read()
    other = http.client.HTTPConnection(
        "127.0.0.1", server.port, timeout=PATIENCE, source_address=("127.0.0.2", own.sock.getsockname()[1])
    )
    other.request("GET", server.path)
    assert other.getresponse().status == 403


def raw(server, data):
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(data)
        with contextlib.suppress(ConnectionResetError):
            return connection.recv(100)
    return b""


def test_requests_are_bounded(server):
    assert raw(
        server, b"GET " + server.path.encode() + b"?x=" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    ).startswith((b"HTTP/1.1 431", b""))
    assert raw(server, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert raw(server, b"\0" * 64 + b"\r\n\r\n").startswith(b"HTTP/1.1 400")
    body = b"GET " + server.path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
    assert raw(server, body).startswith(b"HTTP/1.1 200")
    open_ones = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    for one in open_ones:
        one.close()
    wait_for(lambda: contextlib.suppress(OSError) and server.get(server.path).status == 200, "an answer")


def test_bad_parameters_are_no_crash(server):
    for query in (
        "range.json",
        "range.json?from=x&to=y",
        "range.json?from=5&to=1",
        "range.json?from=-9999999999999999999999",
        "range.json?from=9223372036854775807&to=9223372036854775807&width=-1",
        "call.json",
        "call.json?id=-1",
        "call.json?id=9223372036854775807",
        "sql.json",
        "data.json?since=x",
    ):
        assert server.get(server.path + query).status == 200, query
    assert server.get(server.path + "call.json?id=%zz").status == 400
    assert "no call 0" in server.ask("call.json", id=0)["error"]


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


def test_the_sql_box_only_reads(server, train):
    good = server.ask("sql.json", sql="SELECT name, name, calls FROM top ORDER BY calls DESC LIMIT 2")
    assert (
        good["rows"][0][0] == good["rows"][0][1]
        and [c["name"] for c in good["columns"]] == ["name", "name", "calls"]
        and not good["more"]
    )
    assert (
        len(
            server.ask(
                "sql.json", sql="SELECT id FROM calls UNION ALL SELECT id FROM calls UNION ALL SELECT id FROM calls"
            )["rows"]
        )
        == 1000
    )
    for sql in (
        "DELETE FROM call_",
        "ATTACH 'x.db' AS x",
        "PRAGMA journal_mode = DELETE",
        "SELECT 1; SELECT 2",
        "CREATE TABLE x (y)",
        "",
        "SELECT load_extension('x')",
    ):
        assert "error" in server.ask("sql.json", sql=sql), sql
    assert "one SELECT, for reading only" in server.ask("sql.json", sql="DELETE FROM calls")["fix"]
    wrong = server.ask("sql.json", sql="SELECT name,\n cals FROM top")
    assert "no such column: cals" in wrong["cause"] and wrong.get("place", 14) == 14
    assert "did you mean 'top'" in server.ask("sql.json", sql="SELECT * FROM topp")["cause"]
    wide = ", ".join(["hex(zeroblob(1000))"] * 20)
    assert "8 MB" in server.ask("sql.json", sql=f"SELECT {wide} FROM calls a, calls b")["cause"]
    assert server.ask("sql.json", sql="SELECT 9223372036854775807, NULL, 1.5, x'00ff'")["rows"] == [
        ["9223372036854775807", None, 1.5, "x'00ff'"]
    ]


def test_a_slow_query_ends_in_time(build, train):
    with Server(build, train, "--timeout", "300ms") as server:
        assert "longer than 0.3 s" in server.ask("sql.json", sql=ENDLESS)["cause"]


def test_a_slow_query_holds_nothing_up_and_ends_with_its_browser(server):
    slow = server.connect()
    slow.request("GET", f"{server.path}sql.json?{urllib.parse.urlencode({'sql': ENDLESS})}")
    assert (
        server.ask("data.json", since=0)["parts"]
        and server.ask("range.json", **{"from": 0, "to": 10**12, "width": 1000})["calls"]
    )
    slow.close()
    assert server.ask("sql.json", sql="SELECT 1")["rows"] == [[1]]  # long before the 30 s of the other


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_in_order(build, train, how):
    with Server(build, train) as server:
        slow = server.connect()
        slow.request("GET", f"{server.path}sql.json?{urllib.parse.urlencode({'sql': ENDLESS})}")
        server.get(server.path)
        assert server.end(how) == 0
        again = Server(build, train, "--port", str(server.port))  # no connection of the other one is in its way
        with again:
            assert again.port == server.port and again.path != server.path


def test_open_opens_the_address(build, train, tmp_path):
    program = tmp_path / "xdg-open"
    program.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/part && mv {tmp_path}/part {tmp_path}/opened\n')
    program.chmod(0o755)
    with Server(build, train, "--open", PATH=f"{tmp_path}:{os.environ['PATH']}") as server:
        wait_for((tmp_path / "opened").exists, "a browser")
        assert (tmp_path / "opened").read_text().strip() == server.address and server.end() == 0
    with Server(build, train, "--open", PATH=str(tmp_path / "none")) as server:  # no browser: the server stays
        assert server.get(server.path).status == 200


def test_a_port_in_use_is_an_error(build, train, server):
    done = subprocess.run(
        [build.fade_query, train, "serve", "--port", str(server.port)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert (
        done.returncode == 1
        and "another program uses this port" in done.stderr
        and "--port" in done.stderr
        and not done.stdout
    )


def test_what_serve_refuses(build, train):
    for words in (
        ["serve", "--pid", "1"],
        ["serve", "-f", "json"],
        ["serve", "--session", "all"],
        ["serve", "--port", "0"],
        ["top", "--port", "80"],
        ["top", "--open"],
    ):
        assert (
            subprocess.run(
                [build.fade_query, train, *words], env=ENVIRONMENT, capture_output=True, timeout=PATIENCE
            ).returncode
            == 2
        ), words


def test_a_recording_grows_and_its_fade_is_killed(build, tmp_path):
    with under_way(build, tmp_path) as (path, kill):
        with Server(build, path) as server:
            data = server.ask("data.json", since=0)
            assert data["live"] and data["wait_ms"] >= 1000
            calls = lambda: server.ask("range.json", **{"from": 0, "to": 10**15, "width": 1000})["calls"]
            before = calls()
            wait_for(lambda: calls() > before, "more calls")
            fresh = wait_for(
                lambda: (new := server.ask("data.json", since=data["version"]))["parts"] and new, "new parts"
            )
            assert "timeline" in fresh["parts"] and len(fresh["tables"]) < len(data["tables"])
            kill()
            assert server.ask("sql.json", sql="SELECT count(*) FROM calls")["rows"][0][0] > 0
            assert server.end() == 0
        with Server(build, path) as server:
            assert not server.ask("data.json", since=0)["live"]


@pytest.fixture
def shown(build, chromium, tmp_path):
    with contextlib.ExitStack() as stack:

        def show(path):
            server = stack.enter_context(Server(build, path))
            page = stack.enter_context(chromium(tmp_path / "profile"))
            page.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
            page.open(server.address, "document.getElementById('made')?.textContent")
            page.server = server
            return page

        yield show


def click(page, node):
    x, y = page.value(
        f"(() => {{ const n = {node}; n.scrollIntoView({{block: 'center'}}); "
        "const b = n.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def test_a_click_shows_a_call_with_its_stack(shown, train):
    page = shown(train)
    assert page.value("[...document.querySelectorAll('main section')].map(s => s.id)")[-1] == "sql"
    wait_for(lambda: page.value("document.querySelectorAll('.timeline .call').length"), "calls on the timeline")
    for _ in range(12):  # calls that are drawn as one are zoomed to
        if page.value("document.querySelectorAll('.timeline [data-call][tabindex]').length"):
            break
        drawn = page.value("document.querySelector('.timeline').innerHTML.length")
        click(
            page,
            "[...document.querySelectorAll('.timeline [data-from]')]"
            ".sort((a, b) => b.width.baseVal.value - a.width.baseVal.value)[0]",
        )
        wait_for(lambda: page.value("document.querySelector('.timeline').innerHTML.length") != drawn, "another view")
        time.sleep(0.5)
    call = page.value("document.querySelector('.timeline [data-call][tabindex]').dataset.call")
    click(page, f"document.querySelector('.timeline [data-call=\"{call}\"][tabindex]')")
    text = wait_for(
        lambda: page.value("!document.getElementById('call').hidden && document.getElementById('call').innerText"),
        "the call",
    )
    name, stack = harness.Database(train).rows(f"SELECT name, stack FROM calls WHERE id = {call}")[0]
    assert name in text and "Arguments" in text and (stack is None or "train.py" in text)
    page.key("Escape")
    assert page.value("document.getElementById('call').hidden")
    page.value("document.querySelector('#sql .tools button').click()")
    wait_for(
        lambda: page.value("document.querySelectorAll('#sql tbody tr').length") == 10
        or page.value("document.querySelectorAll('#sql tbody tr').length"),
        "rows",
    )
    page.value(
        "(() => { document.querySelector('#sql textarea').value = 'SELECT nam FROM top'; "
        "document.querySelector('#sql .tools button').click(); })()"
    )
    wait_for(lambda: "no such column: nam" in page.value("document.getElementById('sql').innerText"), "the error")
    assert page.errors == [] and all(address.startswith(page.server.address) for address in page.requests)


def test_a_click_on_work_of_the_gpu_shows_its_call(shown, worked):
    page = shown(worked)
    about = "document.querySelector('#timeline').innerText"
    wait_for(lambda: "works of GPUs in this view" in page.value(about), "works of the GPU")
    start = harness.Database(worked).value("SELECT start FROM gpu_work WHERE kind = 'kernel' ORDER BY id LIMIT 1")
    page.value(
        f"SHOWN.get(document.querySelector('[data-part=timeline]')).timeline.see({start - 2000}, {start + 8000})"
    )
    alone = "[...document.querySelectorAll('.timeline [data-call]')].filter(n => n.dataset.say.includes('on the GPU'))"
    wait_for(lambda: page.value(f"{alone}.length"), "a work alone")
    call = page.value(f"{alone}[0].dataset.call")
    click(page, f"{alone}[0]")
    text = wait_for(
        lambda: page.value("!document.getElementById('call').hidden && document.getElementById('call').innerText"),
        "the call",
    )
    assert harness.Database(worked).value(f"SELECT name FROM calls WHERE id = {call}") in text and page.errors == []


def test_hostile_names_stay_text(shown, train, tmp_path):
    page = shown(with_hostile_names(train, tmp_path))
    wait_for(lambda: page.value("document.querySelectorAll('.timeline .call').length"), "calls")
    page.value(
        "ask('call.json', {id: 5}).then((call) => { const p = new CallPanel(); "
        "p.body.replaceChildren(...p.about(call)); p.node.hidden = false; })"
    )
    assert (
        page.errors == []
        and "owned" not in page.value("document.title")
        and page.value("document.querySelectorAll('img').length") == 0
    )
    assert HOSTILE[1] in page.value("document.body.innerText")


def test_the_page_of_a_live_recording_can_be_paused(build, shown, tmp_path):
    with under_way(build, tmp_path) as (path, _):
        page = shown(path)
        calls = (
            "Number((document.querySelector('[data-table=top] tbody tr td:nth-child(2)')?.textContent || '0')"
            ".replaceAll(',', ''))"
        )
        before = page.value(calls)
        wait_for(lambda: page.value(calls) > before, "a larger number of calls")
        assert "live" in page.value("document.querySelector('header').innerText")
        page.value("[...document.querySelectorAll('header button')].find(b => b.textContent === 'pause').click()")
        assert "paused" in page.value("document.querySelector('header').innerText")
        assert page.errors == []
