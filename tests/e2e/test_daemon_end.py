"""The end of faded, wanted or not: what becomes of sessions, workers and programs."""
import os
import pathlib
import shutil
import signal

import harness
from daemons import alive, daemon, goes_on, status_of, wait_until  # noqa: F401 (fixture)


def test_terminate_detaches_from_everything(daemon):
    faded = daemon.start()
    targets = [daemon.target() for _ in range(2)]
    for target in targets:
        daemon.attach(target.pid)
    faded.terminate()
    assert faded.wait(timeout=120) == 0
    assert all(goes_on(target) for target in targets)
    assert not daemon.socket.exists()
    daemon.start()
    assert {session["ending"] for session in daemon.sessions().values()} == {"detached"}


def test_reload_keeps_sessions_and_runs_the_program_that_was_put_in_its_place(daemon):
    installed = daemon.root / "faded"
    shutil.copy2(daemon.faded, installed)
    faded = daemon.start(program=installed)
    target = daemon.target()
    session = daemon.attach(target.pid)
    shutil.copy2(daemon.faded, daemon.root / "new")
    os.replace(daemon.root / "new", installed)
    replaced = installed.stat().st_ino
    assert os.stat(f"/proc/{faded.pid}/exe").st_ino != replaced
    daemon.ctl("reload")
    wait_until(lambda: os.stat(f"/proc/{faded.pid}/exe").st_ino == replaced and daemon.answers(), "the new program")
    again = daemon.sessions()[session["id"]]
    assert (again["worker"], again["state"]) == (session["worker"], "recording")
    wait_until(lambda: daemon.json("show", session["id"])["calls"] > again["calls"], "recorded calls")
    assert daemon.json("pause", session["id"])["state"] == "paused"
    faded.send_signal(signal.SIGHUP)
    wait_until(lambda: daemon.log().count("goes on: process") == 2 and daemon.answers(), "the second restart")
    assert daemon.json("stop", session["id"])[0]["ending"] == "detached"
    assert goes_on(target) and faded.poll() is None


def test_a_reload_that_cannot_be_done_changes_nothing(daemon):
    installed = daemon.root / "faded"
    shutil.copy2(daemon.faded, installed)
    daemon.start(program=installed)
    target = daemon.target()
    session = daemon.attach(target.pid)
    installed.unlink()
    daemon.ctl("reload")
    wait_until(lambda: "cannot restart" in daemon.log(), "the attempt")
    assert daemon.json("stop", session["id"])[0]["ending"] == "detached"


def test_a_killed_daemon_loses_no_session(daemon):
    faded = daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid)
    faded.kill()
    faded.wait()
    assert alive(session["worker"]) and status_of(target.pid)["TracerPid"] == str(session["worker"])
    daemon.start()  # over the socket that was left
    again = daemon.sessions()[session["id"]]
    assert again["state"] == "recording"
    wait_until(lambda: daemon.json("show", session["id"])["calls"] > again["calls"], "recorded calls")
    assert daemon.json("pause", session["id"])["state"] == "paused"
    assert daemon.json("stop", session["id"])[0]["ending"] == "detached"
    assert goes_on(target)


def test_what_ended_while_no_daemon_ran_is_known(daemon):
    faded = daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid)
    wait_until(lambda: daemon.json("show", session["id"])["calls"] > 0, "recorded calls")
    faded.kill()
    faded.wait()
    target.kill()
    wait_until(lambda: not alive(session["worker"]), "the worker's end")
    daemon.start()
    after = daemon.sessions()[session["id"]]
    database = pathlib.Path(after["folder"], after["database"])
    calls = sum(harness.summed(harness.Database(database).counts("call_stats")).values())
    assert (after["state"], after["ending"], after["calls"]) == ("ended", "the program ended", calls) and calls > 0
    assert f"\t{calls}\t" in daemon.ctl("list").stdout
    assert [path.name for path in database.parent.iterdir()] == [database.name]  # the worker's last word is taken in
    daemon.process.kill()
    daemon.process.wait()
    daemon.start()
    assert daemon.sessions()[session["id"]] == after


def test_a_worker_killed_while_no_daemon_ran_has_an_unknown_end(daemon):
    faded = daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid)
    faded.kill()
    faded.wait()
    os.kill(session["worker"], signal.SIGKILL)
    wait_until(lambda: not alive(session["worker"]), "the worker's end")
    daemon.start()
    after = daemon.sessions()[session["id"]]
    assert after["state"] == "unknown" and "calls" not in after
    assert after["ending"] == f"the daemon was restarted; fade-query {after['folder']}/{after['database']} tells"
    row = next(line for line in daemon.ctl("list").stdout.splitlines() if "unknown" in line)
    assert " 0 " not in row
    assert "not known" in daemon.ctl("show", session["id"]).stdout


def test_a_killed_worker_loses_no_program(daemon):
    daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid)
    os.kill(session["worker"], signal.SIGKILL)
    lost = wait_until(lambda: (s := daemon.sessions()[session["id"]])["state"] == "lost"
                      and s, "the end of the session")
    assert "signal 9" in lost["ending"]
    assert goes_on(target)
    again = daemon.attach(target.pid)  # clears away what was left behind
    wait_until(lambda: daemon.json("show", again["id"])["calls"] > 0, "recorded calls")
    daemon.ctl("stop", again["id"])
    assert goes_on(target)
