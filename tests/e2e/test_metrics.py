"""The daemon's metrics, read by Prometheus itself and by its own parser of OpenMetrics."""
import http.client
import json
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest

from daemons import daemon, wait_until  # noqa: F401 (fixture)

parser = pytest.importorskip("prometheus_client.openmetrics.parser", reason="needs python3-prometheus-client")
PROMETHEUS = shutil.which("prometheus")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Metrics:
    """The samples of one answer, by name and labels."""

    def __init__(self, text):
        self.families = {family.name: family for family in parser.text_string_to_metric_families(text)}
        self.samples = [sample for family in self.families.values() for sample in family.samples]

    def value(self, name, **labels):
        found = [s.value for s in self.samples if s.name == name and labels.items() <= s.labels.items()]
        assert len(found) == 1, f"{name} {labels}: {found}"
        return found[0]

    def labels(self, name):
        return [s.labels for s in self.samples if s.name == name]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def ask_port(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
        return Metrics(answer.read().decode())


def ask_socket(path):
    connection = UnixConnection(str(path))
    connection.request("GET", "/metrics")
    return Metrics(connection.getresponse().read().decode())


def start(daemon, address, *options):
    """The daemon's own socket takes connections a moment before its metrics do."""
    daemon.start("--metrics-listen", address, *options)
    wait_until(lambda: "metrics at" in daemon.log(), "metrics")


def test_counts_are_those_of_the_sessions(daemon):
    port = free_port()
    start(daemon, f"127.0.0.1:{port}")
    before = ask_port(port)
    assert before.value("fade_sessions", state="recording") == 0 and before.value("fade_calls_total") == 0
    target = daemon.target()
    session = daemon.attach(target.pid, "-e", "mem")
    wait_until(lambda: daemon.json("show", session["id"])["calls"] > 100, "recorded calls")
    running = ask_port(port)
    assert running.value("fade_sessions", state="recording") == 1
    assert running.labels("fade_session_calls_total") == [
        {"session": "1", "uid": "0", "pid": str(target.pid), "program": "loop"}
    ]
    assert running.value("fade_calls_total") == running.value("fade_session_calls_total") > 100
    daemon.ctl("stop", session["id"])
    ended = ask_port(port)
    assert ended.value("fade_calls_total") == daemon.sessions()[1]["calls"] >= running.value("fade_calls_total")
    assert (
        ended.value("fade_sessions_started_total", via="attach")
        == ended.value("fade_sessions_ended_total", state="ended")
        == 1
    )
    assert ended.labels("fade_session_calls_total") == []


def test_launches_failures_and_memory(daemon):
    start(daemon, daemon.root / "m")
    program = subprocess.Popen(
        [daemon.build.tracees / "parts", *"alloc wait alloc launch=5 fail wait".split()],
        env=daemon.build.environment("v6"), cwd=daemon.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    daemon.started.append(program)
    assert program.stdout.readline() == b"waiting\n"
    session = daemon.attach(program.pid)
    program.stdin.write(b"\n")
    program.stdin.flush()
    assert program.stdout.readline() == b"waiting\n"
    told = wait_until(lambda: (m := ask_socket(daemon.root / "m")).value("fade_launches_total") == 5 and m, "launches")
    assert told.value("fade_session_launches_total", session=str(session["id"])) == 5
    wait_until(lambda: ask_socket(daemon.root / "m").value("fade_errors_total") == 1, "the failure")
    wait_until(lambda: ask_socket(daemon.root / "m").value("fade_memory_bytes") == 1 << 20, "the memory")
    program.stdin.close()
    program.wait()
    wait_until(lambda: daemon.sessions()[1]["state"] == "ended", "the end")
    assert ask_socket(daemon.root / "m").value("fade_launches_total") == 5
    assert daemon.sessions()[1]["launches"] == 5


def test_the_page_is_strict_open_metrics(daemon):
    """The parser refuses wrong types, units, samples of other families and a missing end."""
    start(daemon, daemon.root / "m")
    daemon.attach(daemon.target().pid)
    told = ask_socket(daemon.root / "m")
    assert told.families["fade_calls"].type == "counter" and told.families["fade_memory_bytes"].unit == "bytes"
    assert all(family.documentation for family in told.families.values())
    assert told.labels("fade_build_info")[0]["version"]


def test_a_unix_socket_has_the_permissions_asked_for(daemon):
    start(daemon, daemon.root / "m", "--metrics-mode", "0660")
    assert oct((daemon.root / "m").stat().st_mode)[-3:] == "660"
    daemon.process.terminate()
    daemon.process.wait(timeout=60)
    assert not (daemon.root / "m").exists()


def test_a_reload_keeps_the_address(daemon):
    port = free_port()
    start(daemon, f"127.0.0.1:{port}")
    session = daemon.attach(daemon.target().pid)
    daemon.ctl("reload")

    def labels():  # the port is closed for a moment
        try:
            return ask_port(port).labels("fade_session_calls_total")
        except OSError:
            return []

    assert wait_until(labels, "the session in the new daemon")[0]["session"] == str(session["id"])


def raw(port, request):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer


def test_other_requests_are_refused(daemon):
    port = free_port()
    start(daemon, f"127.0.0.1:{port}")
    for request, status in [
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"404"),
        (b"POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405"),
        (b"GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"403"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", b"403"),
        (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", b"431"),
        (b"nonsense\r\n\r\n", b"400"),
    ]:
        assert raw(port, request).split()[1] == status, request
    assert ask_port(port).value("fade_calls_total") == 0


def test_many_connections_do_not_stop_the_daemon(daemon):
    port = free_port()
    start(daemon, f"127.0.0.1:{port}")
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
    assert daemon.json("status")["running"] == 0
    for connection in idle:
        connection.close()
    wait_until(lambda: ask_port(port), "a free place")


@pytest.mark.parametrize(
    "address, why",
    [
        ("0.0.0.0:9835", "other machines"),
        ("192.0.2.1:9835", "other machines"),
        ("9835", "neither"),
        ("localhost:x", "no number"),
        ("[::]:1", "other machines"),
    ],
)
def test_addresses_that_others_reach_are_refused(daemon, address, why):
    done = subprocess.run(
        [daemon.faded, "--check-config", "--metrics-listen", address],
        env=daemon.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and why in done.stderr


def test_without_its_port_the_daemon_goes_on(daemon):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        daemon.start("--metrics-listen", f"127.0.0.1:{taken.getsockname()[1]}")
        assert daemon.json("status")["running"] == 0
        assert "no metrics" in daemon.log()


@pytest.mark.skipif(PROMETHEUS is None, reason="needs Debian's prometheus")
def test_prometheus_scrapes_it(daemon, tmp_path):
    port, web = free_port(), free_port()
    start(daemon, f"127.0.0.1:{port}")
    daemon.attach(daemon.target().pid)
    config = {
        "scrape_configs": [
            {"job_name": "fade", "scrape_interval": "1s", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
        ]
    }
    (tmp_path / "prometheus.yml").write_text(json.dumps(config))
    with open(tmp_path / "log", "wb") as log:
        server = subprocess.Popen(
            [PROMETHEUS, f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data",
             f"--web.listen-address=127.0.0.1:{web}"],
            cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    daemon.started.append(server)

    def query(words):
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{web}/api/v1/query?query={urllib.parse.quote(words)}", timeout=60
            ) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    calls = wait_until(lambda: query('fade_session_calls_total{program="loop"} > 0'), "calls in Prometheus")
    assert calls[0]["metric"]["session"] == "1"
    assert wait_until(lambda: query("rate(fade_calls_total[30s]) > 0"), "a rate")
    assert query("up")[0]["value"][1] == "1"
    types = json.load(
        urllib.request.urlopen(f"http://127.0.0.1:{web}/api/v1/targets/metadata?metric=fade_calls", timeout=60)
    )
    assert [one["type"] for one in types["data"]] == ["counter"]


def test_the_dashboard_asks_for_metrics_that_there_are(daemon, request):
    dashboard = json.loads((request.path.parents[2] / "systemd/grafana-dashboard.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    start(daemon, daemon.root / "m")
    daemon.attach(daemon.target().pid)
    known = set(ask_socket(daemon.root / "m").families)
    asked = {name for expression in expressions for name in re.findall(r"fade_\w+", expression)}
    assert len(asked) >= 8
    assert {name.removesuffix("_total") for name in asked} <= known
