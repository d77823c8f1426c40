"""Debian's PyTorch, a real CPU-only build: what fade says of it, and that a real Python with threads and forked workers
does not notice.

Skipped, with the reason, where Debian's archive cannot be reached.
"""
import subprocess

import pytest

import real_runs as runs


@pytest.fixture(scope="module")
def both(torch_cpu, supervised):
    """The program alone and under fade-run --verdict."""
    return runs.native(torch_cpu, "torch_cpu"), supervised(torch_cpu, "torch_cpu", "--verdict")


@pytest.fixture
def query(build_dir, both):
    def ask(*words):
        return subprocess.run([build_dir / "cli/query/fade-query", both[1].database, *words],
                              capture_output=True, text=True, timeout=60)
    return ask


def test_it_runs_as_if_fade_were_not_there(both):
    plain, watched = both
    runs.assert_same_behaviour(plain, watched)
    assert plain.code == 0 and "available False hip None cuda None" in plain.stdout
    assert "workers 2 in other processes True" in plain.stdout


def test_it_is_called_a_cpu_build(both):
    found = runs.rows(both[1].database, "SELECT verdict, reason, evidence, advice FROM session_verdicts")
    (verdict, reason, evidence, advice), = found
    assert (verdict, reason) == ("NOT_LOADED", "its PyTorch is a CPU-only build")
    assert "libtorch_cpu.so.1.13" in evidence and "neither libtorch_hip nor libtorch_cuda" in evidence
    assert "ROCm build of PyTorch" in advice


def test_fade_run_says_so_at_the_end(both):
    assert "NOT_LOADED: HIP was never loaded" in both[1].stderr and "its PyTorch is a CPU-only build" in both[1].stderr


def test_a_check_fails_because_of_it(query):
    unused, errors = query("check", "--fail-on", "not-used"), query("check", "--fail-on", "errors")
    assert unused.returncode == 1 and "its PyTorch is a CPU-only build" in unused.stdout
    assert errors.returncode == 0


def test_workers_and_threads_are_followed(both):
    database = both[1].database
    assert runs.rows(database, "SELECT count(*) FROM processes") == [(3,)]
    assert runs.rows(database,
                     "SELECT count(*) FROM processes WHERE parent_id = (SELECT min(id) FROM processes)") == [(2,)]
    # The program and four threads of Python's, at the least; OpenMP's come on top.
    assert runs.rows(database, "SELECT threads >= 5 FROM processes ORDER BY id LIMIT 1") == [(1,)]
    assert runs.rows(database, "SELECT DISTINCT coalesce(exit_signal, 0), exit_code FROM processes") == [(0, 0)]
    runs.assert_closed(both[1])


def test_the_libraries_it_loaded_are_recorded(both):
    modules = runs.rows(both[1].database, "SELECT path FROM modules")
    assert any("libtorch_python.so" in path for path, in modules) and any("_C.cpython-311" in path for path, in modules)
