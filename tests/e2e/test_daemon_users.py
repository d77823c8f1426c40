"""faded and several users: each may have only own programs traced."""
import os
import stat
import subprocess

import pytest

from daemons import OTHER, USER, daemon, free, goes_on, own_program, status_of, wait_until  # noqa: F401 (fixture)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="other users' programs need root")


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
    assert subprocess.run(["setpriv", f"--reuid={OTHER}", "--clear-groups", "cat", database],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0


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
    program = (f"import ctypes, os, sys\nif os.getuid() == 0 and 'prctl' in {statement!r}: os.setresgid({USER}, "
               f"{USER}, {USER}); os.setresuid({USER}, {USER}, {USER})\n{statement}\nprint('ready', flush=True)\n"
               f"sys.stdin.read()")
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
