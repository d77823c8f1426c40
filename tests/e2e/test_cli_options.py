"""Options of fade-run: their sources and faults, terminals, limits of the shell. Each test starts real programs."""
import pathlib
import re
import sqlite3
import subprocess

import pexpect
import pytest

from programs import demo, fade, run  # noqa: F401 (fixtures)

SOURCE = pathlib.Path(__file__).resolve().parents[2]


# ---------------------------------------------------------------- where options come from
def test_later_sources_win(fade, tmp_path):
    (tmp_path / "c.toml").write_text('[run]\noutput = "from-config.db"\n[query]\nformat = "csv"\n')
    config = {"FADE_CONFIG": "c.toml"}
    run(fade, tmp_path, "true", env=config)
    run(fade, tmp_path, "true", env={**config, "FADE_OPTIONS": "-o from-environment.db"})
    run(fade, tmp_path, "-o", "from-arguments.db", "true", env={**config, "FADE_OPTIONS": "-o ignored.db"})
    run(fade, tmp_path, "true", env={"FADE_OUTPUT": "from-variable.db"})
    assert sorted(p.name for p in tmp_path.glob("*.db")) == [
        "from-arguments.db", "from-config.db", "from-environment.db", "from-variable.db"]


def test_messages_can_go_to_a_file(fade, tmp_path):
    assert run(fade, tmp_path, "--log", "log", "true").stderr == ""
    assert "recording true" in (tmp_path / "log").read_text()


# ---------------------------------------------------------------- what is checked before the program starts
@pytest.mark.parametrize("options, say", [
    (["--set", "device.0.multiProcesorCount=72"], "multiProcessorCount"),
    (["--set", "device.0.multiProcessorCount=many"], "multiProcessorCount"),
    (["--set", "nonsense"], "nonsense"),
    (["--override-file", "missing"], "missing"),
    (["--probes", "missing.probes"], "missing.probes"),
    (["--probes", "bad.probes"], "bad.probes:1:5"),
    (["-e", "mmem"], "did you mean 'mem'?"),
    (["--include", "("], "not a regular expression"),
    (["-d", "soon"], "not a time"),
    (["--max-size", "huge"], "not a size"),
    (["-o", "%z.db"], "unknown '%z'"),
    (["--force", "--append"], "exclude each other"),
])
def test_bad_options_end_with_2_and_nothing_started(fade, tmp_path, options, say):
    (tmp_path / "bad.probes").write_text("int (\n")
    done = run(fade, tmp_path, *options, "touch", "started")
    assert done.returncode == 2, done.stderr
    assert say in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "started").exists() and not list(tmp_path.glob("*.db"))


def test_dry_run_prints_the_rules(fade, tmp_path):
    done = run(fade, tmp_path, "--set", "device.*.computeUnits=72", "--dry-run", "touch", "started")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0] == "device.*.multiProcessorCount = 72  (--set)"
    assert any(line.startswith("  told by: hipGetDevicePropertiesR0600") for line in lines) and "\\n" not in done.stdout
    assert not (tmp_path / "started").exists()


def test_the_catalogue_follows_the_selection(fade):
    everything = fade("fade-run", "--list-probes").stdout
    some = fade("fade-run", "--list-probes", "-e", "mem,-hipMalloc").stdout
    assert "hipMemcpy(" in everything and " hipGetLastError(" not in everything
    assert " hipFree(" in some and " hipMalloc(" not in some and "hipMemcpy(" not in some


def test_the_manuals_example_of_a_probes_file_is_right(fade, tmp_path):
    page = (SOURCE / "cli/man/fade-probes.5.scd.in").read_text()
    (tmp_path / "example.probes").write_text(re.search(r"```\n(.*?)```", page, re.S)[1])
    done = fade("fade-run", "--probes", tmp_path / "example.probes", "--list-probes")
    assert done.returncode == 0 and "my_submit(" in done.stdout


# ---------------------------------------------------------------- on a terminal
def on_terminal(fade, tmp_path, *arguments, **more):
    environment = {**fade.environment, "TERM": "xterm", **more}
    return pexpect.spawn(fade.path("fade-run"), [*map(str, arguments)], cwd=str(tmp_path),
                         env=environment, encoding="utf-8", timeout=60)


def test_a_terminal_gets_a_summary(fade, tmp_path, demo):
    child = on_terminal(fade, tmp_path, "-o", "x.db", demo / "fade-demo")
    child.expect(r"fade: recording fade-demo \(pid \d+\) to x.db")
    child.expect(r"[\d,]+ calls, .*exit status 0")
    child.expect(r"fade-query x\.db summary")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_no_summary_without_a_terminal(fade, tmp_path, demo):
    assert "slowdown" not in run(fade, tmp_path, "-o", "x.db", demo / "fade-demo").stderr
    assert "fade-query y.db summary" in run(fade, tmp_path, "-c", "-o", "y.db", demo / "fade-demo").stderr


def test_colour_is_a_choice(fade, tmp_path, demo):
    for options, colour in ((["--color=always"], True), (["--no-color"], False)):
        done = run(fade, tmp_path, "-c", "--force", "-o", "x.db", *options, demo / "fade-demo")
        assert ("\x1b[" in done.stderr) == colour


def test_control_c_reaches_the_program(fade, tmp_path):
    child = on_terminal(fade, tmp_path, "sh", "-c",
                        'trap "echo caught; exit 3" INT; echo ready; while :; do sleep 0.1; done')
    child.expect("ready")
    child.sendintr()
    child.expect("caught")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 3


# ---------------------------------------------------------------- limits of the shell
WITHOUT_RIGHTS = "setpriv --bounding-set=-sys_resource "


def limited(fade, tmp_path, mib, words, prefix=""):
    script = f"ulimit -v {mib * 1024}; exec {prefix}{words}"
    environment = {**fade.environment, "LD_LIBRARY_PATH": str(fade.folder / "tests" / "runtime" / "v6")}
    return subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True,
                          text=True, timeout=120)


def test_a_limit_of_memory_is_for_the_program(fade, tmp_path):
    """fade raises its own as far as it may: everybody to the hard limit; the program keeps it."""
    script = (f"ulimit -S -v 65536; exec {WITHOUT_RIGHTS}{fade.path('fade-run')} -o soft.db -- sh -c 'ulimit -v; "
              f"ulimit -H -v'")
    soft = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=fade.environment,
                          capture_output=True, text=True, timeout=60)
    assert (soft.returncode, soft.stdout) == (0, "65536\nunlimited\n")


def test_who_has_the_right_goes_beyond_the_hard_limit(fade, tmp_path):
    effective = int(re.search(r"CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text())[1], 16)
    if not effective >> 24 & 1:
        pytest.skip("no CAP_SYS_RESOURCE here")
    done = limited(fade, tmp_path, 64,
                   f"{fade.path('fade-run')} -o run.db -- sh -c 'ulimit -v; ulimit -H -v; ulimit -d'")
    assert (done.returncode, done.stdout) == (0, "65536\n65536\nunlimited\n")


def test_a_small_stack_is_the_programs_where_fade_may_have_a_larger_one(fade, tmp_path):
    effective = int(re.search(r"CapEff:\s*(\w+)", pathlib.Path("/proc/self/status").read_text())[1], 16)
    script = "ulimit -s 128; exec {}{} -o {}.db -- sh -c 'ulimit -s'"
    run = lambda prefix, name: subprocess.run(["sh", "-c", script.format(prefix, fade.path("fade-run"), name)],
                                              cwd=tmp_path, env=fade.environment,  # noqa: E731
                                              capture_output=True, text=True, timeout=60)
    refused = run(WITHOUT_RIGHTS, "refused")
    assert (refused.returncode, refused.stdout) == (125, "")
    assert "limited to 128 KiB (ulimit -s)" in refused.stderr and "\n  fix:   ulimit -s 8192" in refused.stderr
    if effective >> 24 & 1:
        done = run("", "run")
        assert (done.returncode, done.stdout) == (0, "128\n")
        assert sqlite3.connect(tmp_path / "run.db").execute("SELECT clean FROM sessions").fetchone() == (1,)


@pytest.mark.parametrize("mib", [16, 18, 20, 22, 25, 30, 40, 64, 100, 150, 250, 400])
def test_with_too_little_memory_nothing_begins_and_no_program_is_lost(fade, tmp_path, mib):
    tracee = fade.folder / "tests" / "tracees" / "bin" / "errors"
    alone = limited(fade, tmp_path, mib, tracee)
    done = limited(fade, tmp_path, mib, f"{fade.path('fade-run')} -k all -o run.db -- {tracee}", WITHOUT_RIGHTS)
    if done.returncode == 0:
        assert done.stdout == alone.stdout
        assert sqlite3.connect(tmp_path / "run.db").execute("SELECT clean FROM sessions").fetchone() == (1,)
    elif done.returncode == 127:
        # the loader's word; nothing has begun
        assert "error while loading shared libraries" in done.stderr and mib < 64
    else:
        assert (done.returncode, done.stdout) == (125, ""), done.stderr
        assert re.search(r"memory\b", done.stderr) and "\n  cause: " in done.stderr
        assert "\n  fix:   ulimit -v" in done.stderr
    assert mib < 250 or done.returncode == 0
