"""A recording of the demo, and fade-query on it: in pipes and on a terminal."""
import os
import subprocess

import pexpect
import pytest

import harness

REPORTS = """
    actions allocators allocs blas-checks cached calls categories collectives convolutions copies copy-sizes cuda
    devices drops errors
    fallbacks fft findings first-error flame flow gaps gemm gpu gpu-busy gpu-copies gpu-coverage gpu-delays gpu-idle
    gpu-memory gpu-steps gpu-work idle imports injections kernels launches leaks libraries library-apis
    library-calls lifecycle loads memory memory-free memory-libraries modules numbers numbers-steps oom operators
    overhead overrides processes props ranges redirects schema stacks steps streams threads top tree verdict waits
""".split()
ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "xterm-256color", "FADE_PAGER": "cat"}


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("query")
    command = [build.fade_run, "-q", "-o", folder / "fade-demo.db", "--set", "device.0.multiProcessorCount=72",
               "--", build.demo / "fade-demo"]
    assert harness.run(command, build.environment("v6"), folder).status == 0
    return folder / "fade-demo.db"


@pytest.fixture
def query(build, tmp_path):
    def ask(*words, folder=tmp_path, text=None, **environment):
        return subprocess.run([build.fade_query, *map(str, words)], cwd=folder, env={**ENVIRONMENT, **environment},
                              input=text, capture_output=True, text=True, timeout=60)
    return ask


def on_terminal(build, words, columns=80, **environment):
    child = pexpect.spawn(str(build.fade_query), [str(w) for w in words], env={**ENVIRONMENT, **environment},
                          dimensions=(50, columns), encoding="utf-8", timeout=30)
    child.expect(pexpect.EOF)
    child.close()
    return child.before.replace("\r\n", "\n")
