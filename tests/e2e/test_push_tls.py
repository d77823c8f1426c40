"""Recordings over HTTPS: certificates that are to be trusted and those that are not. The server is real."""
import subprocess

import pytest

import certificates
import clickhouse
from daemons import daemon, wait_until  # noqa: F401 (fixture)
from pushes import push, record, run_with_push, view_rows  # noqa: F401 (fixture)
from queries import ENVIRONMENT

pytestmark = pytest.mark.skipif(not clickhouse.PROGRAM, reason="no clickhouse-server: docker/install-deps.sh test")

REFUSED = 1  # exit status: a later attempt meets the same certificate
LAST_WORDS = "are not on the server yet: "


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return certificates.make(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def authority(keys):
    return keys[0].file


@pytest.fixture(scope="module")
def server(build, tmp_path_factory, keys):
    one = clickhouse.Server(clickhouse.folder_of(tmp_path_factory, "tls")).start(tls=keys[1])
    one.secure = f"https://127.0.0.1:{one.https}"
    assert push(build, one.secure, "--init", "--ca", keys[0].file).returncode == 0
    yield one
    one.stop()


@pytest.fixture
def proxy(server, keys):
    one = certificates.Proxy(server.http, keys[1])
    yield one
    one.close()


def rows_of(server, job):
    """How many rows of calls, and how many different ones."""
    return server.ask(f"SELECT count(), uniqExact(id) FROM calls WHERE job = '{job}'", "fade")[0]


def all_of(path):
    return [str(view_rows(path, "SELECT count(*) FROM calls")[0][0])] * 2


def sent_once(build, server, path, job, *words):
    """Sends it, and once more. Each row is there once."""
    sent = push(build, *words, path, "--job", job)
    assert sent.returncode == 0, sent.stderr
    assert "has all of it already" in push(build, *words, path, "--job", job).stderr
    return rows_of(server, job) == all_of(path)


def test_a_certificate_of_the_named_authority_is_trusted(build, server, record, authority):  # noqa: F811
    assert sent_once(build, server, record(), "trusted", server.secure, "--ca", authority)
    asked = subprocess.run(
        [build.fade_query, "--on", server.secure, "--ca", authority, "jobs", "-f", "csv"],
        env={**ENVIRONMENT, **clickhouse.environment()},
        capture_output=True,
        text=True,
    )
    assert asked.returncode == 0 and "trusted" in asked.stdout, asked.stderr


@pytest.mark.parametrize(
    "job, cause, fix",
    [
        ("unknown", "no authority that is known here has signed", "--ca FILE"),
        ("other", "no authority that is known here has signed", "--ca FILE"),
        ("host", "is for another host", "use the name of the host"),
        ("expired", "has expired", "renew it"),
        ("unreadable", "badfile.pem", "must be readable and in PEM format"),
    ],
)
def test_what_is_not_trusted_gets_nothing(build, server, proxy, record, keys, tmp_path, job, cause, fix):  # noqa: F811
    authority, good, expired, other = keys
    path = record()
    proxy.use(expired if job == "expired" else good)
    (tmp_path / ".curlrc").write_text("insecure\n")  # neither is a way around it
    words = {
        "unknown": [server.secure],
        "other": [server.secure, "--ca", other.file],
        "host": [server.secure.replace("127.0.0.1", "localhost"), "--ca", authority.file],
        "expired": [proxy.url, "--ca", authority.file],
        "unreadable": [server.secure, "--ca", tmp_path / "badfile.pem"],
    }
    refused = push(build, *words[job], path, "--job", job, HOME=str(tmp_path), GIT_SSL_NO_VERIFY="1")
    assert refused.returncode == REFUSED, refused.stderr
    assert cause in refused.stderr and fix in refused.stderr, refused.stderr
    assert rows_of(server, job) == ["0", "0"]
    proxy.use(good)
    mended = proxy.url if job == "expired" else server.secure
    assert sent_once(build, server, path, job, mended, "--ca", authority.file)


def test_no_address_is_unencrypted_in_silence(build, record):  # noqa: F811
    told = push(build, "http://127.0.0.2:1", record(), "--timeout", "10ms").stderr
    assert "the recording and the password go to http://127.0.0.2:1/ unencrypted: https://" in told
    assert " unencrypted: " not in push(build, "http://127.0.0.1:1", record(name="b.db"), "--timeout", "10ms").stderr


@pytest.mark.parametrize("size", [1500, 5000, 9000])
def test_a_certificate_that_expires_in_the_middle_loses_nothing(build, server, proxy, record, keys, size):  # noqa: F811
    authority, good, expired, _ = keys
    path, job = record(), f"middle-{size}"
    proxy.cut_after(size, expired)
    cut = push(build, proxy.url, "--ca", authority.file, path, "--job", job)
    assert cut.returncode == REFUSED and "has expired" in cut.stderr, cut.stderr
    proxy.use(good)
    assert sent_once(build, server, path, job, proxy.url, "--ca", authority.file)


def test_fade_run_sends_to_a_trusted_server(build, server, authority, tmp_path):
    (tmp_path / "password").write_text("secret\n")
    words = ["--push-ca", authority, "--push-user", "fade", "--push-password-file", tmp_path / "password"]
    program = run_with_push(
        build, tmp_path, server.secure, "run-tls", "alloc free", *words, CLICKHOUSE_USER="", CLICKHOUSE_PASSWORD=""
    )
    said = program.communicate(timeout=60)[1].decode()
    assert program.returncode == 0 and "sent " in said, said
    assert rows_of(server, "run-tls") == all_of(tmp_path / "run-tls.db")


def test_fade_run_keeps_what_an_untrusted_server_must_not_have(build, server, authority, tmp_path):
    program = run_with_push(build, tmp_path, server.secure, "run-untrusted", "alloc free")
    out, said = (text.decode() for text in program.communicate(timeout=60))
    assert program.returncode == 0 and "cannot trust https://" in said, said
    assert rows_of(server, "run-untrusted") == ["0", "0"]
    (command,) = (line.split(LAST_WORDS)[1] for line in said.splitlines() if LAST_WORDS in line)
    words = command.split("      ")[0].split()  # the rest is what it does
    assert words[:2] == ["fade-query", "push"] and words[-2:] == ["--job", "run-untrusted"]
    sent = push(build, *words[2:], "--ca", authority)
    assert sent.returncode == 0, sent.stderr
    assert rows_of(server, "run-untrusted") == all_of(tmp_path / "run-untrusted.db")


def test_the_daemon_sends_its_recordings(build, server, authority, daemon, tmp_path):  # noqa: F811
    (tmp_path / "password").write_text("secret\n")
    daemon.start(
        "--push",
        server.secure,
        "--push-ca",
        authority,
        "--push-user",
        "fade",
        "--push-password-file",
        tmp_path / "password",
        environment={"SLURM_JOB_ID": "77"},
    )
    target = daemon.target()
    daemon.attach(target.pid)
    wait_until(lambda: server.number("SELECT count() FROM recordings WHERE job = 'slurm-77'"), "the first snapshot")
    target.kill()
    wait_until(
        lambda: server.number("SELECT count() FROM recordings WHERE job = 'slurm-77' AND complete = 1"),
        "the last snapshot",
    )
    path = server.ask("SELECT file FROM recordings WHERE job = 'slurm-77'", "fade")[0][0]
    assert rows_of(server, "slurm-77") == all_of(path)
