"""fade-run --ab: pairs of runs without and with rules, and what may be said about them."""
import re
import signal
import subprocess

import pexpect
import pytest

import harness

# Says on standard error that it is there, and takes Ctrl-C for an order to end well.
PROGRAM_WITH_A_TERMINAL = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
print("it runs", file=sys.stderr, flush=True)
while True:
    time.sleep(0.05)  # pause() would miss a signal that comes just before
"""
RULE = "device.*.multiProcessorCount=72"


@pytest.fixture
def compare(build, tmp_path):
    def go(line, *options, rules=RULE, pairs=1, runtime="v6", **more):
        command = [build.fade_run, "--ab", rules, "--pairs", pairs, "-o", "ab.db", *options, "--", *build.command(line)]
        return harness.run([str(word) for word in command], build.environment(runtime), tmp_path, timeout=300, **more)
    return go


def sections(ran):
    """heading -> text below it."""
    parts = re.split(r"\n\n(?=\S)", ran.stdout.decode())
    return {part.split("\n", 1)[0]: part for part in parts}


def test_a_grid_that_follows_the_count(compare, tmp_path):
    ran = compare("grid", pairs=2)
    assert ran.status == 0, ran.stderr
    text = ran.stdout.decode()
    assert "compared 2 pairs of runs without and with 1 rule" in text
    assert "applied 2 times, in all runs with it: 36 became 72" in text
    assert re.search(
        r"without  grid 36x1x1, block 64x1x1 \(10 launches a run\)\n +with     grid 72x1x1, block 64x1x1 \(10 "
        r"launches a run\)", text)
    assert "the same in all runs (5 bytes)" in text
    assert re.search(r"kernel launches +10 +10 +same", text) and re.search(r"exit status +0 +0 +same", text)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert not (tmp_path / "ab.db-wal").exists()
    database = harness.Database(tmp_path / "ab.db")
    assert database.rows(
        "SELECT s.id, coalesce(sum(o.hits), 0) FROM sessions s LEFT JOIN overrides o ON o.session = s.id GROUP BY "
        "s.id") == [(1, 0), (2, 1), (3, 1), (4, 0)]
    assert [line for line in ran.stderr.decode().splitlines() if re.fullmatch(
        r"fade: run \d of 4, with(out)? the rules: .*, exit status 0", line)] == ran.stderr.decode().splitlines()


def test_few_pairs_say_nothing_about_time(compare):
    text = compare("grid").stdout.decode()
    assert "cannot tell: 1 pair is too few, and a statement needs 5 or more" in text
    assert "faster with" not in text and "slower with" not in text


def test_five_pairs_say_something(compare):
    told = sections(compare("grid", pairs=5))["Is it faster?"]
    assert re.search(
        r"no difference that is larger than the noise|(faster|slower) with the rules by more than the noise: .* a run",
        told)
    assert re.search(r"95 % interval of the difference: [+-].* to [+-].*, 5 pairs", told)


def test_a_program_that_does_not_ask(compare):
    text = compare("grid fixed").stdout.decode()
    assert "never applied: the program never read this property" in text
    assert "none of the rules was ever applied" in text
    assert "no grid changed (1 kernel)" in text


def test_output_that_follows_the_rules_and_output_that_always_changes(compare):
    text = compare("props").stdout.decode()
    assert "different with the rules, and the same in all runs of either side" in text
    assert re.search(r"without  '.*mp 36 .*'\n +with     '.*mp 72 ", text), text
    assert "changes from run to run without the rules already" in compare("grid time",
                                                                          "--force", pairs=2).stdout.decode()


def test_failures_are_compared_and_mirrored(compare):
    ran = compare("grid status 7", pairs=2)
    text = ran.stdout.decode()
    assert ran.status == 7
    assert re.search(r"exit status +0 +7 +different", text) and "cannot tell: not all runs succeeded" in text
    ran = compare("exits segv", "--force")
    assert ran.status == 128 + signal.SIGSEGV and re.search(r"exit status +SIGSEGV +SIGSEGV +same", ran.stdout.decode())


def test_several_rules(compare):
    ran = compare("props", "--set", "device.*.clockRate=1", "--ab", "device.0.name=x",
                  rules="device.0.multiProcessorCount=72; device.0.warpSize=64")
    text = ran.stdout.decode()
    assert "without and with 3 rules" in text and text.count("in all runs with it") == 3
    database = harness.Database(ran.folder / "ab.db")
    assert database.rows("SELECT session, count(*) FROM overrides GROUP BY session") == [(1, 1), (2, 4)]


def test_every_run_finds_the_same_surroundings(compare, tmp_path):
    """Nothing of one run leaks into the next: descriptors, signal dispositions, masks, limits, scheduling."""
    assert "the same in all runs" in compare("environment", pairs=2).stdout.decode()
    script = ("import os, signal; print(sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0), "
              "signal.getsignal(signal.SIGPIPE), os.readlink('/proc/self/fd/0'))")
    program = tmp_path / "look.py"
    program.write_text(
        f"#!/usr/bin/python3\n{script}\nimport ctypes\nhip = ctypes.CDLL('libamdhip64.so.6')\nfor _ in range(500): "
        f"hip.hipDeviceSynchronize()\n")
    program.chmod(0o755)
    ran = compare(str(program), "--force", pairs=2)
    assert ran.status == 0 and "the same in all runs" in ran.stdout.decode(), ran.stdout


def test_standard_input_begins_anew(build, tmp_path):
    (tmp_path / "in").write_text("first\nsecond\n")
    command = [build.fade_run, "-q", "--ab", RULE, "--pairs", "1", "-o", "ab.db", "--", *build.command("grid echo")]
    with open(tmp_path / "in") as file:
        done = subprocess.run(command, stdin=file, cwd=tmp_path, env=build.environment("v6"),
                              capture_output=True, timeout=120)
    assert "the same in all runs (18 bytes)" in done.stdout.decode(), done.stdout
    done = subprocess.run([*command[:2], "--force", *command[2:]], input=b"first\n",
                          cwd=tmp_path, env=build.environment("v6"), capture_output=True, timeout=120)
    assert "the same in all runs (5 bytes)" in done.stdout.decode() and done.stderr == b"", done


@pytest.mark.parametrize("options, said", [(["--append"], b"--ab and --append exclude"),
                                           (["--daemon"], b"--ab and --daemon exclude"),
                                           (["-c"], b"--ab and --summary exclude"),
                                           (["--pairs", "0"], b"not between 1 and"),
                                           (["--pairs", "x"], b"not a whole number")])
def test_what_makes_no_sense_is_refused(compare, tmp_path, options, said):
    ran = compare("grid", *options)
    assert ran.status == 2 and said in ran.stderr and ran.counts == {} and not (tmp_path / "ab.db").exists()


def test_rules_are_checked_before_the_first_run(compare, tmp_path):
    ran = compare("grid", rules="device.0.warpSize=64; device.0.multiProcessorCoun=72")
    assert ran.status == 2 and b"cannot use --ab 'device.0.multiProcessorCoun=72'" in ran.stderr
    assert b"did you mean" in ran.stderr
    assert ran.counts == {} and not (tmp_path / "ab.db").exists()


def test_the_rules_can_be_looked_at(build, tmp_path):
    ran = harness.run([build.fade_run, "--ab", RULE, "--dry-run"], build.environment("v6"), tmp_path)
    assert ran.status == 0 and b"multiProcessorCount = 72  (--ab)" in ran.stdout


def test_a_file_that_exists_is_kept(compare, tmp_path):
    (tmp_path / "ab.db").write_text("mine")
    ran = compare("grid")
    assert ran.status == 125 and (tmp_path / "ab.db").read_text() == "mine" and ran.counts == {}


def test_a_program_that_is_not_there(build, tmp_path):
    ran = harness.run([build.fade_run, "--ab", RULE, "--", "nothing-here"], build.environment("v6"), tmp_path)
    assert ran.status == 127 and list(tmp_path.glob("*.db")) == []


def test_the_name_of_the_file_is_a_pattern_once(build, tmp_path):
    ran = harness.run([build.fade_run, "-q", "--ab", RULE, "--pairs", "1", "-o",
                       "a%%b-%p-%n.db", "--", *build.command("grid")], build.environment("v6"), tmp_path)
    files = [path.name for path in tmp_path.glob("*.db")]
    assert ran.status == 0 and len(files) == 1 and re.fullmatch(r"a%b-\d+-1\.db", files[0]), files
    assert harness.Database(tmp_path / files[0]).value("SELECT count(*) FROM sessions") == 2


def test_an_interrupt_ends_the_series(build, tmp_path):
    words = ["--ab", RULE, "--pairs", "3", "-o", "ab.db", "--", "/usr/bin/python3", "-c", PROGRAM_WITH_A_TERMINAL]
    process = pexpect.spawn(str(build.fade_run), words, cwd=str(tmp_path), env=build.environment("v6"),
                            timeout=60, encoding="utf-8")
    process.expect_exact("it runs")
    process.sendintr()
    process.expect_exact("interrupted before the first pair")
    process.expect(pexpect.EOF)
    process.close()
    assert process.exitstatus == 125, "it ended in order, the series did not"
    assert harness.Database(tmp_path / "ab.db").value("SELECT count(*) FROM sessions") == 1
