"""Fixtures: the two releases unpacked and built once per run, and fade-run.

    python3 -m pytest tests/real [--build-dir BUILD] [--fade-run PATH]

Without the Debian archive these tests fail; those with PyTorch and with the libraries above HIP, by far the largest
downloads, are skipped and say so. FADE_REAL=off leaves all out, FADE_REAL=small the libraries above HIP (1.1 GB)
and PyTorch 2; both say so.
"""
import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import thorough  # noqa: E402  (needs the path above)
import real_runs as runs
import real_world as world

OFF = os.environ.get("FADE_REAL", "").lower() in ("off", "0", "no")
SMALL = os.environ.get("FADE_REAL", "").lower() == "small"


def pytest_addoption(parser):
    try:
        parser.addoption("--build-dir", default=str(world.HERE.parents[1] / "build/release"),
                         help="folder that CMake built into; the runtimes are unpacked under it")
    except ValueError:
        pass  # run together with tests/e2e, which has the same option
    parser.addoption("--fade-run", default=None, help="the fade-run to test [BUILD/cli/run/fade-run]")


def pytest_report_header():
    return "AMD's own runtimes: " + ("LEFT OUT by FADE_REAL=off" if OFF
                                     else "5.2.3 (no GPU), 6.4.3 and 7.2.4 (simulated GPU)")


def pytest_collection_modifyitems(config, items):
    thorough.deselect(config, items)
    if OFF:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="FADE_REAL=off: AMD's own runtimes are not tested"))


def pytest_terminal_summary(terminalreporter):
    for line in getattr(terminalreporter.config, "fade_real_steps", []):
        terminalreporter.write_line(f"real: {line}")
    if OFF:
        terminalreporter.write_line("real: FADE_REAL=off, nothing was tested against AMD's own runtimes")


@pytest.fixture(scope="session")
def build_dir(pytestconfig):
    return Path(pytestconfig.getoption("--build-dir")).resolve()


@pytest.fixture(scope="session")
def step(pytestconfig):
    """Runs one part of the preparation and notes how long it took, for the summary."""
    pytestconfig.fade_real_steps = []

    def timed(what, action, *arguments):
        begin = time.monotonic()
        said = action(*arguments)
        took = f"{what}: {time.monotonic() - begin:.1f} s"
        pytestconfig.fade_real_steps.append(f"{took} ({said.strip()})" if said else took)

    return timed


@pytest.fixture(scope="session")
def hip523(build_dir, step):
    release = world.Release523("5.2.3", build_dir / "real/5.2.3")
    step("5.2.3 unpacked", release.unpack)
    step("5.2.3 programs", release.build)
    return release


@pytest.fixture(scope="session")
def hip724(build_dir, step, hip523):
    release = world.Release724("7.2.4", build_dir / "real/7.2.4")
    step("7.2.4 unpacked", release.unpack)
    step("7.2.4 programs", release.build, hip523)
    return release


@pytest.fixture(scope="session")
def libraries(build_dir, step):
    if SMALL:
        pytest.skip("FADE_REAL=small leaves out the libraries above HIP, a download of 1.1 GB")
    release = world.ReleaseLibraries("libraries", build_dir / "real/libraries")
    try:
        step("libraries unpacked", release.unpack)
    except AssertionError as error:  # experimental changes, and this is the largest download of all
        if not any(why in str(error) for why in ("apt finds no way", "the download failed",
                                                 "cannot read the package lists")):
            raise
        pytest.skip(f"Debian's archive does not have these libraries: {' '.join(str(error).split())}")
    step("libraries' programs", release.build)
    return release


@pytest.fixture(scope="session")
def hip643(build_dir, step, hip523):
    release = world.Release643("6.4.3", build_dir / "real/6.4.3")
    try:
        step("6.4.3 unpacked", release.unpack)
    except AssertionError as error:  # sid will have 7 one day
        if "apt finds no way" not in str(error) and "the download failed" not in str(error):
            raise
        pytest.skip(f"Debian's archive has HIP 6.4.3 no more: {' '.join(str(error).split())}")
    step("6.4.3 programs", release.build, hip523)
    return release


def unpacked_torch(name, build_dir, step):
    if SMALL and name == "torch2":
        pytest.skip("FADE_REAL=small leaves out PyTorch 2 of sid")
    release = world.ReleaseTorch(name, build_dir / "real" / name)
    try:
        step(f"{name} unpacked", release.unpack)
    except AssertionError as error:
        if "cannot read the package lists" not in str(error) and "the download failed" not in str(error):
            raise
        pytest.skip(f"Debian's archive cannot be reached, so its PyTorch is not tested: {' '.join(str(error).split())}")
    return release


@pytest.fixture(scope="session")
def torch_cpu(build_dir, step):
    return unpacked_torch("torch", build_dir, step)


@pytest.fixture(scope="session", params=["torch", "torch2"])
def any_torch(request, build_dir, step):
    """PyTorch 1.13 of Debian 12 and 2.x of sid."""
    return unpacked_torch(request.param, build_dir, step)


@pytest.fixture(scope="session")
def supervised(pytestconfig, build_dir, tmp_path_factory):
    """A function: supervised(release, program, *options of fade-run) -> runs.Run with its database."""
    fade_run = Path(pytestconfig.getoption("--fade-run") or build_dir / "cli/run/fade-run")
    assert fade_run.exists(), f"{fade_run} is missing: build fade first, or name it with --fade-run"
    return runs.Supervisor(fade_run, tmp_path_factory.mktemp("databases"))


@pytest.fixture(params=["breakpoints", "taps"])
def engine(request):
    """The options of fade-run that choose how calls are seen: what is recorded must be the same."""
    return "--engine", request.param
