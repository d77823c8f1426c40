"""fade-query serve: which requests are answered, the SQL box, and how it begins and ends."""
import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import urllib.parse

import pytest

from page_recordings import PATIENCE, record, train, under_way, wait_for  # noqa: F401
from queries import ENVIRONMENT
from serving import Server, server  # noqa: F401

ENDLESS = "WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g) SELECT max(n) FROM g"


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
    long = b"GET " + server.path.encode() + b"?x=" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert raw(server, long)[:12] in (b"HTTP/1.1 431", b"")
    assert raw(server, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert raw(server, b"\0" * 64 + b"\r\n\r\n").startswith(b"HTTP/1.1 400")
    body = b"GET " + server.path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"
    assert raw(server, body).startswith(b"HTTP/1.1 200")
    open_ones = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    for one in open_ones:
        one.close()
    wait_for(lambda: server.get(server.path).status == 200, "an answer")


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
