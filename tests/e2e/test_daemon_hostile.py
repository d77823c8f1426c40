"""faded against clients, places and workers that misbehave."""
import os
import signal
import subprocess
import textwrap

import pytest

from daemons import USER, alive, daemon, framed, free, until_closed, wait_until  # noqa: F401 (fixture)

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="other users' programs need root")


# ---------------------------------------------------------------- hostile clients
def test_bytes_from_anywhere_do_not_disturb(daemon):
    daemon.start()
    target = daemon.target()
    session = daemon.attach(target.pid)
    half = daemon.raw()
    half.sendall(framed('{"v":1,"id":1,"method":"status"}')[:20])
    for data in (b"\xff" * 4, b"\0" * 4, b"GET / HTTP/1.1\r\n\r\n", struct_with(5_000_000)):
        with daemon.raw() as connection:
            connection.sendall(data)
            assert b"bytes" in until_closed(connection)
    for text in ('{"v":2,"id":1,"method":"status"}', '{"v":1,"id":1,"method":"no-such"}',
                 '[[[[[[', '{"v":1,"id":1,"method":"attach","params":{"pid":"x"}}',
                 '{"v":1,"id":1,"method":"attach","params":{"pid":1e30}}',
                 '{"v":1,"id":1,"method":"attach","params":{"pid":%d,"options":{"output":"/etc/x"}}}' % target.pid,
                 '{"v":1,"id":1,"method":"stop","params":{"id":-1}}',
                 '{"v":1,"id":1,"method":"watch-add","params":{"exe":"(a*)*\\\\1"}}',
                 '{"v":1,"id":1,"method":"tail","params":{"id":[]}}'):
        with daemon.raw() as connection:
            connection.sendall(framed(text))
            assert b'"error"' in connection.recv(65536), text
    assert not any(os.path.exists(path) for path in ("/etc/x", "/etc/x-wal"))
    assert daemon.sessions()[session["id"]]["state"] == "recording"
    half.close()


def struct_with(length):
    return length.to_bytes(4, "little") + b"x" * 100


@needs_root
def test_a_flood_is_refused_to_who_floods_only(daemon):
    daemon.start()
    flood = textwrap.dedent("""
        import socket, struct, sys
        text = b'{"v":1,"id":%d,"method":"status"}'
        connections, refused = [], 0
        for _ in range(100):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(sys.argv[1])
            connection.settimeout(60)
            connections.append(connection)
        first = connections[0]
        for i in range(1, 500):
            message = text % i
            first.sendall(struct.pack("<I", len(message)) + message)
        while refused == 0:
            refused = first.recv(65536).count(b"too many requests")
        print("refused", flush=True)
        sys.stdin.read()
        """)
    flooder = subprocess.Popen(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "/usr/bin/python3",
                                "-c", flood, str(daemon.socket)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    daemon.started.append(flooder)
    assert flooder.stdout.readline() == b"refused\n"
    daemon.ctl("status")  # root is served meanwhile
    assert "too many connections" in daemon.log()
    flooder.stdin.close()


# ---------------------------------------------------------------- hostile places
def test_two_daemons_do_not_share_a_socket_or_a_folder(daemon):
    daemon.start()
    same_folder = subprocess.run([daemon.faded, "--socket", daemon.root / "other", "--state-dir", daemon.state],
                                 env=daemon.environment, stderr=subprocess.PIPE, text=True, timeout=60)
    assert same_folder.returncode == 1 and "another daemon does" in same_folder.stderr
    same_socket = subprocess.run([daemon.faded, "--socket", daemon.socket, "--state-dir", daemon.root / "other"],
                                 env=daemon.environment, stderr=subprocess.PIPE, text=True, timeout=60)
    assert same_socket.returncode == 1 and "another daemon does" in same_socket.stderr
    daemon.ctl("status")


def test_links_are_not_followed(daemon):
    elsewhere = daemon.root / "elsewhere"
    elsewhere.mkdir()
    daemon.state.symlink_to(elsewhere)
    refused = subprocess.run([daemon.faded, "--socket", daemon.socket, "--state-dir", daemon.state],
                             env=daemon.environment, stderr=subprocess.PIPE, text=True, timeout=60)
    assert refused.returncode == 1 and "it is a link" in refused.stderr
    daemon.state.unlink()
    daemon.start()
    (daemon.state / str(os.geteuid())).symlink_to(elsewhere)
    target = daemon.target()
    assert "it is a link" in daemon.ctl("attach", target.pid, status=1).stderr
    assert free(target.pid) and list(elsewhere.iterdir()) == []


@needs_root
def test_a_folder_that_others_may_write_is_not_used(daemon):
    daemon.state.mkdir()
    for prepare in (lambda: os.chmod(daemon.state, 0o777), lambda: os.chown(daemon.state, USER, USER)):
        prepare()
        refused = subprocess.run([daemon.faded, "--socket", daemon.socket, "--state-dir", daemon.state],
                                 env=daemon.environment, stderr=subprocess.PIPE, text=True, timeout=60)
        assert refused.returncode == 1 and "cannot use the folder" in refused.stderr


def test_a_socket_name_taken_by_a_file_is_left_alone(daemon):
    daemon.socket.write_text("precious")
    refused = subprocess.run([daemon.faded, "--socket", daemon.socket, "--state-dir", daemon.state],
                             env=daemon.environment, stderr=subprocess.PIPE, text=True, timeout=60)
    assert refused.returncode == 1 and daemon.socket.read_text() == "precious"


# ---------------------------------------------------------------- workers that misbehave
def worker_program(daemon, body):
    path = daemon.root / "worker"
    path.write_text("#!/usr/bin/python3\nimport os, signal, socket, sys, time\nd = socket.socket(fileno=3)\n"
                    "attached = b'{\"event\":\"attached\",\"program\":\"x\",\"holds\":{},\"notes\":[]}\\n'\n" +
                    textwrap.dedent(body))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("body, said", [
    ("sys.exit(3)", "its worker ended with status 3"),
    ("os.kill(os.getpid(), 11)", "signal 11"),
    ("d.send(b'{\"event\":\"failed\",\"code\":95,\"message\":\"cannot\",\"cause\":\"because\"}\\n')", "because"),
    ("d.sendall(b'x' * 1000000 + b'\\n{}\\n[\\n{\"event\":1}\\n'); sys.exit(4)", "status 4"),
])
def test_a_worker_that_fails_says_why(daemon, body, said):
    daemon.start(worker=worker_program(daemon, body))
    target = daemon.target()
    done = subprocess.run([daemon.fadectl, "attach", str(target.pid)], env=daemon.environment,
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, timeout=60)
    assert done.returncode in (1, 5) and said in done.stderr
    assert daemon.json("status")["running"] == 0


def test_a_worker_that_talks_too_much_and_reads_nothing_disturbs_nobody(daemon):
    body = """
        d.sendall(attached)
        while True: d.sendall(b'{"event":"tick","calls":1,"elapsed_ns":1}\\n' * 100 + b'z' * 70000 + b'\\n')
        """
    daemon.start(worker=worker_program(daemon, body))
    target = daemon.target()
    session = daemon.attach(target.pid)
    for _ in range(50):
        daemon.ctl("list")
    os.kill(session["worker"], signal.SIGKILL)
    wait_until(lambda: daemon.sessions()[session["id"]]["state"] == "lost", "the end")


def test_a_worker_that_will_not_stop_is_ended(daemon):
    body = """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        d.sendall(attached)
        while True: time.sleep(1)
        """
    faded = daemon.start(worker=worker_program(daemon, body))
    target = daemon.target()
    session = daemon.attach(target.pid)
    faded.terminate()
    assert faded.wait(timeout=120) == 0
    assert not alive(session["worker"]) and "sending SIGKILL" in daemon.log()


@needs_root
def test_what_became_somebody_elses_before_the_worker_came_is_not_recorded(daemon):
    """Between the check and the attachment the target gains rights, as by executing a set-uid program."""
    gate = daemon.root / "gate"
    os.mkfifo(gate)
    os.chmod(gate, 0o666)
    body = f"""
        open({str(gate)!r}).read()
        name = [word for word in sys.argv if word.startswith('--output=')][0][9:]
        open(name, 'w').write('recorded')
        d.sendall(attached)
        while d.recv(100).find(b'stop') < 0: pass
        """
    daemon.start(worker=worker_program(daemon, body))
    program = textwrap.dedent(f"""
        import ctypes, os, sys
        os.setresgid({USER}, {USER}, {USER})
        os.setresuid({USER}, {USER}, {USER})
        ctypes.CDLL(None).prctl(4, 1)
        print('ready', flush=True)
        sys.stdin.readline()
        ctypes.CDLL(None).prctl(4, 0)
        print('changed', flush=True)
        sys.stdin.read()
        """)
    target = subprocess.Popen(["/usr/bin/python3", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    daemon.started.append(target)
    assert target.stdout.readline() == b"ready\n"
    asked = subprocess.Popen(["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", daemon.fadectl,
                              "attach", str(target.pid)], env=daemon.environment,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    daemon.started.append(asked)
    with open(gate, "w"):  # opens when the worker has come
        target.stdin.write(b"\n")
        target.stdin.flush()
        assert target.stdout.readline() == b"changed\n"
    _, said = asked.communicate(timeout=60)
    assert asked.returncode == 3 and "not dumpable" in said
    assert list((daemon.state / str(USER)).iterdir()) == [] and daemon.sessions() == {}
