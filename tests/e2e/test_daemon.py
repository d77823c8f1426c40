"""faded and fadectl: sessions that outlive their clients, runs, watches, and permissions."""
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess

import pytest

import harness
from daemons import OTHER, USER, alive, daemon, free, goes_on, status_of, wait_until  # noqa: F401 (fixture)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="other users' programs need root")


# ---------------------------------------------------------------- sessions
def test_a_session_from_attach_to_stop(daemon):
    daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid, "-e", "mem")
    assert (session["pid"], session["program"], session["state"], session["threads"]) == (target.pid, "loop", "recording", 1)
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


def test_tail_tells_what_happens_and_ends_with_the_session(daemon):
    daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid)
    tail = subprocess.Popen([daemon.fadectl, "tail", str(session["id"]), "--json"], env=daemon.environment, stdout=subprocess.PIPE, text=True)
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
    assert not daemon.sessions() and goes_on(target)


def test_without_a_daemon_there_is_advice(daemon):
    assert "systemctl start faded.socket" in daemon.ctl("status", status=1).stderr


# ---------------------------------------------------------------- the daemon's own end
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
    lost = wait_until(lambda: (s := daemon.sessions()[session["id"]])["state"] == "lost" and s, "the end of the session")
    assert "signal 9" in lost["ending"]
    assert goes_on(target)
    again = daemon.attach(target.pid)  # clears away what was left behind
    wait_until(lambda: daemon.json("show", again["id"])["calls"] > 0, "recorded calls")
    daemon.ctl("stop", again["id"])
    assert goes_on(target)


# ---------------------------------------------------------------- run and watch
def test_run_is_the_program(daemon):
    daemon.start()
    ran = daemon.root / "ran"
    ran.mkdir()
    environment = {**daemon.environment, **daemon.build.environment("v6")}
    command = [str(daemon.fadectl), "run", "--", *daemon.build.command("loop 50")]
    done = subprocess.run(command, env=environment, cwd=ran, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert (done.returncode, done.stdout) == (0, b"done\n"), done.stderr
    session = wait_until(lambda: (s := daemon.sessions()[1])["state"] == "ended" and s, "the end")
    counted = {name: n for name, n in harness.summed(harness.read_counts(ran)).items() if not name.startswith("__")}
    recorded = harness.summed(harness.Database(f"{session['folder']}/{session['database']}").counts("call_stats"))
    assert recorded.items() <= counted.items() and recorded["hipMalloc"] == counted["hipMalloc"] > 0
    assert session["program"] == "loop" and session["via"] == "run"


@pytest.mark.parametrize("command, status", [(["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -TERM $$"], -15), (["/no/such/program"], 127), (["/etc/passwd"], 126)])
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
    ask = lambda *words: subprocess.run(list(map(str, words)), env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)  # noqa: E731
    done = ask(daemon.build.fade_run, "--daemon", "--chdir", tmp_path, "-E", "GREETING=hello", "--", "sh", "-c", "echo $GREETING; pwd; exit 3")
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
    process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGTERM)
    os.kill(process.pid, signal.SIGHUP)
    os.kill(process.pid, 50)  # ends it
    assert process.communicate(timeout=60)[0] == b"HUP 1\nTERM 1\n" and process.returncode == 7


def own_program(daemon):
    """(command, rule for --exe) of a program that nothing else on this machine runs: a rule is for all of its processes."""
    copy = shutil.copy(daemon.build.tracees / "loop", daemon.root / "loop")
    return f"{copy} 2000000000", f"^{re.escape(str(copy))}$"


def test_watch_attaches_once_to_what_matches(daemon):
    daemon.start()
    program, rule = own_program(daemon)
    before = daemon.target(program)
    rule = daemon.json("watch", "add", "--exe", rule, "--detail", "stats")
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


# ---------------------------------------------------------------- who may
@needs_root
def test_users_have_their_own_programs_traced_and_no_others(daemon):
    daemon.start()
    mine, roots = daemon.target(uid=USER), daemon.target()
    refused = daemon.ctl("attach", roots.pid, uid=USER, status=3)
    assert "it runs as user 0" in refused.stderr and f"sudo fadectl attach {roots.pid}" in refused.stderr
    daemon.ctl("attach", mine.pid, uid=OTHER, status=3)
    assert free(mine.pid) and free(roots.pid)
    assert f"refused user {USER}" in daemon.log() and f"refused user {OTHER}" in daemon.log()

    session = daemon.attach(mine.pid, uid=USER)
    worker = status_of(session["worker"])
    assert worker["Uid"].split() == [str(USER)] * 4 and int(worker["CapEff"], 16) in (0, 1 << 19)
    database = daemon.state / str(USER) / session["database"]
    assert stat.S_IMODE(database.stat().st_mode) == 0o600 and database.stat().st_uid == USER
    # Others neither see nor touch it; root does.
    assert daemon.sessions(uid=OTHER) == {} and list(daemon.sessions(uid=USER)) == list(daemon.sessions()) == [1]
    for command in ("show", "stop", "pause", "tail"):
        daemon.ctl(command, 1, uid=OTHER, status=4)
    daemon.ctl("reload", uid=USER, status=3)
    daemon.ctl("watch", "add", "--uid", 0, uid=USER, status=3)
    assert free(roots.pid)
    daemon.ctl("stop", 1)
    assert goes_on(mine)
    assert subprocess.run(["setpriv", f"--reuid={OTHER}", "--clear-groups", "cat", database], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0


@needs_root
def test_a_users_watch_leaves_other_users_alone(daemon):
    daemon.start()
    program, rule = own_program(daemon)
    roots, mine = daemon.target(program), daemon.target(program, uid=USER)
    daemon.ctl("watch", "add", "--exe", rule, uid=USER)
    assert wait_until(lambda: daemon.sessions().get(1), "a session")["pid"] == mine.pid
    assert free(roots.pid)


@needs_root
@pytest.mark.parametrize("statement, said", [
    ("ctypes.CDLL(None).prctl(4, 0)", "not dumpable"),  # PR_SET_DUMPABLE
    (f"os.setresuid({USER}, {USER}, 0)", "it runs as user 0"),
    (f"os.setresgid({USER}, {USER}, 0); os.setresuid({USER}, {USER}, {USER})", "it runs as group 0"),
])
def test_every_id_and_dumpability_count(daemon, statement, said):
    daemon.start()
    program = f"import ctypes, os, sys\nif os.getuid() == 0 and 'prctl' in {statement!r}: os.setresgid({USER}, {USER}, {USER}); os.setresuid({USER}, {USER}, {USER})\n{statement}\nprint('ready', flush=True)\nsys.stdin.read()"
    target = subprocess.Popen(["/usr/bin/python3", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    daemon.started.append(target)
    assert target.stdout.readline() == b"ready\n"
    assert said in daemon.ctl("attach", target.pid, uid=USER, status=3).stderr
    assert free(target.pid)
    assert said in daemon.ctl("check", target.pid, uid=USER, status=3).stdout


@needs_root
def test_only_allowed_users_are_served(daemon):
    daemon.start("--allow-uid", USER)
    daemon.ctl("status", uid=USER)
    daemon.ctl("status")
    assert "--allow-uid" in daemon.ctl("status", uid=OTHER, status=3).stderr


def test_sessions_are_limited(daemon):
    daemon.start("--max-sessions", 1)
    first, second = daemon.target(), daemon.target()
    daemon.attach(first.pid)
    assert "1 and 16 are allowed" in daemon.ctl("attach", second.pid, status=1).stderr
    daemon.ctl("stop", "--all")
    daemon.attach(second.pid)
