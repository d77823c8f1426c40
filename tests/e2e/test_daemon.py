"""faded and fadectl: sessions that outlive their clients, runs and watches."""
import json
import os
import signal
import subprocess

import pytest

import harness
from daemons import daemon, free, goes_on, own_program, status_of, wait_until  # noqa: F401 (fixture)


# ---------------------------------------------------------------- sessions
def test_a_session_from_attach_to_stop(daemon):
    daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid, "-e", "mem")
    assert (session["pid"], session["program"], session["state"],
            session["threads"]) == (target.pid, "loop", "recording", 1)
    wait_until(lambda: daemon.json("show", session["id"])["calls"] > 100, "recorded calls")
    assert daemon.json("status")["running"] == 1

    assert daemon.json("pause", session["id"])["state"] == "paused"
    assert daemon.json("resume", session["id"])["state"] == "recording"
    assert daemon.json("stop", session["id"])[0]["ending"] == "detached"
    daemon.ctl("pause", session["id"], status=4)
    assert goes_on(target)

    ended = daemon.sessions()[session["id"]]
    database = harness.Database(f"{ended['folder']}/{ended['database']}")
    names = {name for (name,) in database.rows("SELECT DISTINCT name FROM call_stats")}
    assert names and all(name.startswith(("hipMalloc", "hipFree")) for name in names)
    assert database.value("SELECT sum(calls) FROM call_stats") == ended["calls"]
    assert [path.name for path in (daemon.state / "0").iterdir()] == [ended["database"]]


def test_the_end_of_the_program_ends_the_session(daemon):
    daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid)
    target.kill()
    ended = wait_until(lambda: (s := daemon.sessions()[session["id"]])["state"] == "ended" and s, "the end")
    assert ended["ending"] == "the program ended" and ended["until_ns"] > ended["since_ns"]


def test_one_process_has_one_session(daemon):
    daemon.start()
    target = daemon.target()
    daemon.attach(target.pid)
    assert "session 1 records it already" in daemon.ctl("attach", target.pid, status=1).stderr


def test_tail_tells_what_happens_and_ends_with_the_session(daemon):
    daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid)
    tail = subprocess.Popen([daemon.fadectl, "tail", str(session["id"]), "--json"],
                            env=daemon.environment, stdout=subprocess.PIPE, text=True)
    daemon.started.append(tail)
    lines = iter(tail.stdout.readline, "")
    assert json.loads(next(lines))["what"] == "now"
    assert any(json.loads(line)["what"] == "tick" for line in lines)
    daemon.ctl("stop", session["id"])
    assert [json.loads(line)["what"] for line in lines][-1] == "ended"
    assert tail.wait(timeout=60) == 0


def test_prune_removes_what_may_go(daemon):
    daemon.start()
    for _ in range(2):
        target = daemon.target()
        daemon.attach(target.pid)
        daemon.ctl("stop", "--all")
    assert daemon.json("prune", "--older", "1d")["removed"] == 0
    kept = daemon.json("status")["bytes"]
    done = daemon.json("prune", "--keep-bytes", kept - 1)
    assert done["removed"] == 1 and list(daemon.sessions()) == [2]
    daemon.ctl("prune", "--older", "0s")
    assert not daemon.sessions() and not list((daemon.state / "0").iterdir())
    daemon.ctl("prune", status=2)


def test_options_that_a_command_would_ignore_are_refused(daemon):
    daemon.start()
    assert "list takes no options of what to record" in daemon.ctl("list", "-e", "mem", status=2).stderr
    assert "did you mean 'status'" in daemon.ctl("statsu", status=2).stderr
    daemon.ctl("attach", "nonsense", status=2)
    daemon.ctl("attach", 999999999, status=4)
    daemon.ctl("show", 7, status=4)
    # What only the worker can tell is wrong comes back as the client's mistake.
    target = daemon.target()
    assert "no_such_field" in daemon.ctl("attach", target.pid, "--set", "device.0.no_such_field=1", status=2).stderr
    assert "hipMaloc" in daemon.ctl("attach", target.pid, "--inject", "hipMaloc:error=2", status=2).stderr
    assert not daemon.sessions() and goes_on(target)


def test_without_a_daemon_there_is_advice(daemon):
    assert "systemctl start faded.socket" in daemon.ctl("status", status=1).stderr


# ---------------------------------------------------------------- run and watch
def test_run_is_the_program(daemon):
    daemon.start()
    ran = daemon.root / "ran"
    ran.mkdir()
    environment = {**daemon.environment, **daemon.build.environment("v6")}
    command = [str(daemon.fadectl), "run", "--", *daemon.build.command("loop 50")]
    done = subprocess.run(command, env=environment, cwd=ran, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert (done.returncode, done.stdout) == (0, b"done\n"), done.stderr
    session = wait_until(lambda: (s := daemon.sessions()[1])["state"] == "ended" and s, "the end")
    counted = {name: n for name, n in harness.summed(harness.read_counts(ran)).items() if not name.startswith("__")}
    recorded = harness.summed(harness.Database(f"{session['folder']}/{session['database']}").counts("call_stats"))
    assert recorded.items() <= counted.items() and recorded["hipMalloc"] == counted["hipMalloc"] > 0
    assert session["program"] == "loop" and session["via"] == "run"


@pytest.mark.parametrize("command, status", [(["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -TERM $$"], -15),
                                             (["/no/such/program"], 127), (["/etc/passwd"], 126)])
def test_run_ends_as_the_program_ends(daemon, command, status):
    daemon.start()
    daemon.ctl("run", "--", *command, status=status)


def test_run_does_not_begin_what_cannot_be_recorded(daemon):
    marker = daemon.root / "ran"
    done = daemon.ctl("run", "--", "touch", marker, status=125)
    assert "faded is not running" in done.stderr and not marker.exists()


def test_fade_run_and_fade_attach_may_leave_it_to_the_daemon(daemon, tmp_path):
    daemon.start()
    environment = {**daemon.environment, **daemon.build.environment("v6")}

    def ask(*words):
        return subprocess.run(list(map(str, words)), env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)

    done = ask(daemon.build.fade_run, "--daemon", "--chdir", tmp_path, "-E", "GREETING=hello",
               "--", "sh", "-c", "echo $GREETING; pwd; exit 3")
    assert (done.returncode, done.stdout) == (3, f"hello\n{tmp_path}\n"), done.stderr
    wait_until(lambda: daemon.sessions()[1]["state"] == "ended", "the end")
    target = daemon.target()
    done = ask(daemon.worker, "--daemon", "--detail", "stats", target.pid)
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr
    assert daemon.sessions()[2]["state"] == "recording"
    assert status_of(target.pid)["TracerPid"] == str(daemon.sessions()[2]["worker"])
    daemon.ctl("stop", 2)
    assert goes_on(target)
    for program, words in ((daemon.build.fade_run, ["--", "true"]), (daemon.worker, [target.pid])):
        assert ask(program, "--daemon", "-o", "x.db", *words).returncode == 2
    assert ask(daemon.build.fade_run, "--daemon", "--kill-on-exit", "--", "true").returncode == 2
    assert list(tmp_path.glob("*.db")) == []


def test_signals_come_once_where_the_daemon_records(daemon, tmp_path):
    daemon.start()
    command = [str(daemon.build.fade_run), "--daemon", "--", *daemon.build.command("hears")]
    environment = {**daemon.environment, **daemon.build.environment("v6")}
    process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGTERM)
    os.kill(process.pid, signal.SIGHUP)
    os.kill(process.pid, 50)  # ends it
    assert process.communicate(timeout=60)[0] == b"HUP 1\nTERM 1\n" and process.returncode == 7


def test_watch_attaches_once_to_what_matches(daemon):
    daemon.start()
    program, rule = own_program(daemon)
    before = daemon.target(program)
    rule = daemon.json("watch", "add", "--exe", rule, "--detail", "stats")
    # as a script does at each start
    assert daemon.json("watch", "add", "--exe", rule["exe"], "--detail", "stats") == rule
    assert [one["id"] for one in daemon.json("watch", "list")] == [rule["id"]]
    unwatched = daemon.target("cpu 1000000")
    first = wait_until(lambda: (s := daemon.sessions()) and s.get(1), "the first session")
    assert (first["pid"], first["via"]) == (before.pid, "watch")
    after = daemon.target(program)
    second = wait_until(lambda: daemon.sessions().get(2), "the second session")
    assert second["pid"] == after.pid
    daemon.ctl("stop", "--all")
    third = daemon.target(program)
    wait_until(lambda: 3 in daemon.sessions(), "the third session")  # by then the first two were seen again
    assert {s["pid"] for s in daemon.sessions().values()} == {before.pid, after.pid, third.pid}
    assert free(unwatched.pid)
    daemon.ctl("watch", "rm", rule["id"])
    assert daemon.json("watch", "list") == []
    daemon.ctl("watch", "add", "--exe", "(((", status=2)
    daemon.ctl("watch", "add", status=2)


def test_watches_outlive_the_daemon(daemon):
    faded = daemon.start()
    program, rule = own_program(daemon)
    rule = daemon.json("watch", "add", "--exe", rule, "--cgroup", "*")
    faded.terminate()
    faded.wait(timeout=60)
    daemon.start()
    assert daemon.json("watch", "list") == [rule]
    target = daemon.target(program)
    assert wait_until(lambda: daemon.sessions().get(1), "a session")["pid"] == target.pid
