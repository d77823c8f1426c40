"""What fade itself costs: measured when a session begins, taken off the sums, said at the end."""
import os
import re
import resource
import subprocess
import time

import pytest

import harness

ROUNDS = 3000
SLOWDOWN = r"(about|more than|up to|less than) .*: [\d,]+ calls? x .* = .* of .*"


def recorded(build, tmp_path, line, *options):
    ran = harness.run([str(word) for word in (build.fade_run, "--summary", "--force",
                                              "-o", "run.db", *options, "--", *build.command(line))],
                      build.environment("v6"), tmp_path)
    assert ran.status == 0, ran.stderr
    return ran.stderr.decode(), harness.Database(tmp_path / "run.db")


def children_used():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e9)


FORMS = {"jump", "int3", "tap"} | ({"apart"} if len(os.sched_getaffinity(0)) > 1 else set())


def test_the_cost_of_a_call_is_measured_and_taken_off_the_sums(build, tmp_path):
    _, recording = recorded(build, tmp_path, f"loop {ROUNDS}")
    costs = dict(recording.rows("SELECT form, call_ns FROM call_costs WHERE calls > 0"))
    assert set(costs) == FORMS and min(costs.values()) > 0
    tapped = dict(recording.rows("SELECT name, sum(tapped_calls) FROM call_stats GROUP BY name"))
    assert ROUNDS / 2 <= tapped["hipMemset"] <= ROUNDS - 100 and tapped["hipMalloc"] == 0
    # The child that was measured is no process of the recording, and its calls are none.
    assert recording.value("SELECT count(*) FROM processes") == 1
    assert recording.value("SELECT count(*) FROM threads") == 1
    for name, calls, total, raw in recording.rows(
        "SELECT name, sum(calls), sum(total_ns), sum(raw_total_ns) FROM call_stats GROUP BY name"):
        assert raw == recording.value(f"SELECT sum(duration) FROM calls WHERE name = '{name}'")
        own = (calls - tapped[name]) * costs["jump"] + tapped[name] * costs["tap"]
        assert 0 <= total <= max(0, raw - own), name
    assert recording.value("SELECT total_ns FROM threads") <= recording.value(
        "SELECT sum(raw_total_ns) FROM call_stats")


def test_the_end_block_and_the_summary_say_the_same(build, tmp_path):
    told, recording = recorded(build, tmp_path, f"loop {ROUNDS}")
    slowdown = re.search(r"^  slowdown   (.*)$", told, re.M)[1]
    assert re.fullmatch(SLOWDOWN, slowdown), told
    calls, tapped, calls_ns, life = recording.rows("SELECT calls, tapped, calls_ns, life_ns FROM slowdowns")[0]
    assert slowdown.split(": ")[1].startswith(f"{calls - tapped:,} calls x ")
    assert f" + {tapped:,} without a stop x " in slowdown
    assert calls_ns < life
    summary = harness.run([str(build.fade_query), "run.db", "summary", "--format", "table"],
                          build.environment("v6"), tmp_path).stdout.decode()
    assert slowdown.replace("µs", "us") in " ".join(summary.replace("µs", "us").split()), summary
    # One number for the run: the program's own life.
    duration = recording.value("SELECT duration FROM processes")
    assert re.search(r"^fade: (.*?), ", told, re.M)[1].replace("µs", "us") in summary.replace("µs", "us")
    assert duration > 0


def test_threads_that_call_at_once_get_a_range(build, tmp_path):
    _, recording = recorded(build, tmp_path, "threads 4 200")
    threads, busiest, calls_ns = recording.rows("SELECT threads, busiest_ns, calls_ns + other_ns FROM slowdowns")[0]
    assert threads > 1 and 0 < busiest < calls_ns


def test_calls_inside_of_calls_do_not_make_the_outer_one_long(build, tmp_path):
    _, recording = recorded(build, tmp_path, "nested", "-e", harness.EVERYTHING)
    rows = recording.rows(
        "SELECT o.total_ns, o.self_ns, sum(i.total_ns), o.raw_total_ns - o.total_ns, count(*) FROM call_stats o "
        "JOIN call_stats i ON i.parent_function_id = o.function_id GROUP BY o.function_id")
    assert rows
    call_ns = recording.value("SELECT call_ns FROM call_costs WHERE form = 'jump'")
    for total, self_ns, inside, taken_off, inner in rows:
        assert self_ns >= 0 and total >= 0
        assert taken_off > call_ns * (1 + inner)  # its own, and of each call inside both stops


@pytest.mark.parametrize("engine, least, most", [("breakpoints", 0.75, 1.25), ("auto", 0.5, 1.5)])
def test_the_slowdown_that_is_told_is_the_difference_of_two_runs(engine, least, most, build, tmp_path):
    """Both figures come from the same minute, and are compared as a ratio. tests/bench/slowdown.py shows it for more
    programs.
    The shortest runs are those that other work on the machine made least longer."""
    natives, supervised = [], []
    for _ in range(5):
        began, used = time.monotonic_ns(), children_used()
        subprocess.run([str(word) for word in build.command("loop 20000")], env=build.environment("v6"),
                       cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
        natives.append((time.monotonic_ns() - began, children_used() - used))
        _, recording = recorded(build, tmp_path, "loop 20000", "--engine", engine)
        supervised.append(recording.rows(
            "SELECT p.duration, s.calls_ns + s.taps_ns + s.other_ns FROM slowdowns s JOIN processes p ON p.session = "
            "s.session")[0])
    (native, used), (life, told) = min(natives), min(supervised)
    if native > 2 * used:
        pytest.skip(f"too much other work: the program alone ran {used / native:.0%} of its time in all of "
                    f"{len(natives)} runs")
    assert least < told / (life - native) < most, (natives, supervised)


@pytest.mark.parametrize("engine", ["breakpoints", "auto"])
def test_attaching_measures_too(engine, build, tmp_path):
    target = subprocess.Popen([str(word) for word in build.command("loop 100000000")],
                              env=build.environment("v6"), cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        ran = harness.run([str(build.fade_run.parent.parent / "attach" / "fade-attach"), "-d", "500ms",
                           "-o", "run.db", "--engine", engine, str(target.pid)], build.environment("v6"), tmp_path)
        assert ran.status == 0, ran.stderr
    finally:
        target.kill()
        target.wait()
    recording = harness.Database(tmp_path / "run.db")
    forms = {form for form, in recording.rows("SELECT form FROM call_costs WHERE calls > 0")}
    assert forms == (FORMS if engine == "auto" else FORMS - {"tap"})
    assert re.search(SLOWDOWN, ran.stderr.decode()), ran.stderr
