"""--inject and --replace: skipped calls never reach the runtime, results are as HIP's, and each action is a row."""
import os
import signal
import subprocess
import time

import pytest

import harness
from attaching import attach, differing_text, start, until  # noqa: F401 (fixtures)


def supervise(build, tmp_path, line, *rules, runtime="v6", options=(), **environment):
    words = [word for rule in rules for word in (rule if isinstance(rule, tuple) else ("--inject", rule))]
    words += ["-e", harness.EVERYTHING, *options]
    ran = harness.run_supervised(build, line, runtime, tmp_path, options=words, **environment)
    assert ran.stderr == b""
    return ran, harness.Database(tmp_path / "run.db")


def lines(ran):
    return ran.stdout.decode().splitlines()


def hits(database, action="error"):
    return database.value(f"SELECT coalesce(sum(n), 0) FROM injection_hits WHERE action = '{action}'")


@pytest.mark.parametrize("runtime", ["v5", "v6", "v7", "plt", "hard"])
def test_a_failed_call_is_skipped(build, tmp_path, runtime):
    ran, database = supervise(
        build, tmp_path, "faults allocations 5", "hipMalloc:error=hipErrorOutOfMemory:when=3", runtime=runtime
    )
    assert ran.status == 0
    assert lines(ran) == [
        f"{i}: 2 null, peek 2, last 2, again 0" if i == 3 else f"{i}: 0 memory, peek 0, last 0, again 0"
        for i in range(1, 6)
    ]
    assert ran.total["hipMalloc"] == 4 and ran.total["hipFree"] == 4
    assert database.rows("SELECT name, action, became, n FROM injection_hits ORDER BY action, name") == [
        ("hipMalloc", "error", "hipErrorOutOfMemory", 1),
        ("hipGetLastError", "last error", "hipErrorOutOfMemory", 1),
        ("hipPeekAtLastError", "last error", "hipErrorOutOfMemory", 1),
    ]
    assert database.rows("SELECT result, count(*) FROM calls WHERE name = 'hipMalloc' GROUP BY result") == [
        (0, 4),
        (2, 1),
    ]
    assert database.rows("SELECT name, injected, repeats FROM failures WHERE name = 'hipMalloc'") == [
        ("hipMalloc", 1, 1)
    ]


@pytest.mark.parametrize("line", ["faults launches 6", "faults training 6"])
def test_the_program_does_what_it_does_where_the_runtime_fails(build, tmp_path, line):
    name = "hipLaunchKernel" if "launches" in line else "hipMalloc"
    alone = harness.run_alone(build, line, "v6", tmp_path, FADE_STANDIN_FAIL=f"{name}:4:2")
    ran, database = supervise(build, tmp_path, line, f"{name}:error=2:when=4")
    assert (ran.stdout, ran.status) == (alone.stdout, alone.status)
    assert b" 2" in alone.stdout or b"out of memory" in alone.stdout
    assert hits(database) == 1
    assert ran.total[name] == alone.total[name] - 1


def test_a_ledger_has_no_row_of_a_skipped_call(build, tmp_path):
    ran, _ = supervise(
        build, tmp_path, "faults allocations 9", "hipMalloc:error=2:every=3", FADE_STANDIN_MEMORY="memory"
    )
    allocs = [line.split()[5] for line in (ran.folder / "memory").read_text().splitlines() if " device " in line]
    assert allocs == ["6"]


def test_a_late_error_comes_after_the_call(build, tmp_path):
    ran, database = supervise(build, tmp_path, "faults launches 3", "hipLaunchKernel:error=98:late:when=2")
    assert lines(ran) == ["1: 0", "2: 98", "3: 0"] and ran.total["hipLaunchKernel"] == 3
    assert hits(database, "late error") == 1


def test_a_sticky_error_meets_all_later_calls(build, tmp_path):
    ran, database = supervise(
        build, tmp_path, "faults launches 4", "hipLaunchKernel:error=hipErrorIllegalAddress:sticky:when=2"
    )
    assert lines(ran) == ["1: 0", "2: 700", "3: 700", "4: 700"] and ran.total["hipLaunchKernel"] == 1
    assert hits(database, "sticky error") == 2
    ran, _ = supervise(build, tmp_path / "t", "faults training 5", "hipMemset:error=700:sticky:when=3")
    assert lines(ran) == ["step 3: hipErrorIllegalAddress"] and ran.status == 1


def test_an_option_of_all_threads(build, tmp_path):
    ran, database = supervise(build, tmp_path, "faults threads 8 100", "hipMalloc:error=2:every=4")
    assert lines(ran) == ["200 of 800 failed"] and ran.total["hipMalloc"] == 600 and hits(database) == 200


def test_chance_is_the_same_for_the_same_seed(build, tmp_path):
    def failed(folder, seed):
        ran, database = supervise(
            build, tmp_path / folder, "faults allocations 60", "hipMalloc:error=2:chance=0.3", options=("--seed", seed)
        )
        assert database.value("SELECT seed FROM injections") == int(seed)
        return [line.split(":")[0] for line in lines(ran) if "null" in line]

    first = failed("a", "7")
    assert 5 < len(first) < 40 and first == failed("b", "7") != failed("c", "8")


def test_each_forked_process_counts_by_itself(build, tmp_path):
    ran, database = supervise(build, tmp_path, "faults forked 3", "hipMalloc:error=2:when=2")
    assert [line for line in lines(ran) if "null" in line] == ["2: 2 null, peek 2, last 2, again 0"] * 3
    assert database.value("SELECT count(DISTINCT pid) FROM injection_hits WHERE action = 'error'") == 3


def test_a_delay_holds_one_thread_alone(build, tmp_path):
    ran, database = supervise(
        build, tmp_path, "faults slow 5", "hipMalloc:delay=60ms", "hipFree:delay_exit=30ms", options=("-e", "mem")
    )
    took, rest = ran.stdout.decode().split(" s, ")
    assert float(took) >= 0.45 and rest == "another thread called meanwhile\n"
    assert hits(database, "delay") == 5 and hits(database, "delay_exit") == 5
    assert database.value("SELECT min(duration) FROM calls WHERE name = 'hipMalloc'") >= 60_000_000
    assert database.value("SELECT min(duration) FROM calls WHERE name = 'hipFree'") >= 30_000_000


def test_zluda(build, tmp_path):
    alone = harness.run_alone(build, "cuda fail", "zluda", tmp_path)
    ran, database = supervise(build, tmp_path, "cuda fail", "cuInit:delay=20ms", runtime="zluda")
    assert ran.stdout == alone.stdout and hits(database, "delay") >= 1
    rule = "cuMemAlloc_v2:error=CUDA_ERROR_OUT_OF_MEMORY"
    ran = harness.run_supervised(build, "cuda work 20", "zluda", tmp_path / "b", options=["--inject", rule])
    assert ran.status == 99 and b"cuMemAlloc_v2" in ran.stderr and "hipMalloc" not in ran.total
    assert hits(harness.Database(tmp_path / "b" / "run.db")) == 1


def test_replaced_arguments_and_results(build, tmp_path):
    ran, database = supervise(
        build,
        tmp_path,
        "faults allocations 3",
        ("--replace", "hipMalloc.size=65536:when=2"),
        FADE_STANDIN_MEMORY="memory",
    )
    assert database.rows("SELECT action, was, became, n FROM injection_hits") == [("size", "8192", "65536", 1)]
    peak = [line.split()[4] for line in (ran.folder / "memory").read_text().splitlines() if " device " in line]
    assert peak == ["65536"]
    assert database.value("SELECT max(size) FROM allocations") == 65536
    ran, _ = supervise(build, tmp_path / "b", "faults devices", ("--replace", "hipGetDeviceCount.result=100"))
    assert lines(ran)[0].endswith(" (100)")


def test_a_dim3_is_replaced_in_part(build, tmp_path):
    _, database = supervise(
        build,
        tmp_path,
        "faults launches 3",
        ("--replace", "hipLaunchKernel.numBlocks.y=5:numBlocks.x>=2"),
        ("--replace", "hipLaunchKernel.stream=0"),
    )
    assert database.rows("SELECT grid_x, grid_y, grid_z FROM launches ORDER BY start") == [
        (1, 1, 1),
        (2, 5, 1),
        (3, 5, 1),
    ]


def test_floats_are_replaced_in_vector_registers(build, tmp_path):
    rules = [
        ("--replace", "hipTexRefSetMipmapLevelBias.bias=-0.25"),
        ("--replace", "hipTexRefSetMipmapLevelClamp.maxMipMapLevelClamp=1e3"),
    ]
    ran, database = supervise(build, tmp_path, "faults floats", *rules)
    assert lines(ran) == ["bias -0.25, clamp 0 from 0.25 to 1000"]
    assert database.rows("SELECT action, was, became FROM injection_hits ORDER BY action") == [
        ("bias", "1.5", "-0.25"),
        ("maxMipMapLevelClamp", "8", "1000"),
    ]
    assert (
        database.value("SELECT json_extract(args, '$.bias') FROM calls WHERE name = 'hipTexRefSetMipmapLevelBias'")
        == -0.25
    )
    ran, _ = supervise(
        build, tmp_path / "b", "faults floats", "hipTexRefSetMipmapLevelClamp/minMipMapLevelClamp<0.5:error=1"
    )
    assert lines(ran) == ["bias 1.5, clamp 1 from 0 to 0"]


@pytest.mark.parametrize(
    "line, rule, n",
    [
        ("calls", "kernel/kernel=saxpy:delay=1ms", 1),
        ("calls", "kernel/kernel=other*:delay=1ms", 0),
        ("faults launches 3", "hipLaunchKernel/kernel=kernel*:error=98", 6),
        ("faults launches 3", "hipLaunchKernel/kernel=other:error=98", 0),
    ],
)
def test_a_rule_for_launches_of_one_kernel(build, tmp_path, line, rule, n):
    words = ["--inject", rule, "-e", harness.EVERYTHING]
    harness.run_supervised(build, line, "v6", tmp_path, options=words)
    assert harness.Database(tmp_path / "run.db").value("SELECT sum(hits) FROM injections WHERE hits > 0") == (n or None)


def test_outputs_of_a_skipped_call_respect_the_protection_of_pages(build, tmp_path):
    ran, database = supervise(build, tmp_path, "faults read_only", "hipMalloc:error=2")
    assert lines(ran) == ["2, unchanged"] and hits(database) == 1


def test_a_failure_of_a_replaced_argument_names_fade(build, tmp_path):
    _, database = supervise(build, tmp_path, "faults devices", ("--replace", "hipSetDevice.deviceId=9:when=2"))
    rows = database.rows("SELECT name, injected, replaced, meaning FROM failures WHERE replaced")
    assert [row[:3] for row in rows] == [("hipSetDevice", 0, 1)] and "--replace" in rows[0][3]
    assert "--replace" in database.value("SELECT meaning FROM first_errors")


@pytest.mark.parametrize(
    "rule, says",
    [
        ("hipStreamCreate:error=2", "none of its functions was called"),
        ("hipMalloc/size>1G:error=2", "its filters let none of 3 calls through"),
        ("hipMalloc:error=2:when=9", "3 calls matched, and when=, every= or chance= chose none"),
    ],
)
def test_the_end_says_why_no_call_matched(build, tmp_path, rule, says):
    command = [
        build.fade_run,
        "-o",
        tmp_path / "run.db",
        "--inject",
        rule,
        "--",
        *build.command("faults allocations 3"),
    ]
    ran = harness.run(command, build.environment("v6"), tmp_path)
    assert f"{rule}: {says}" in ran.stderr.decode()


def test_a_dry_replacement_changes_nothing(build, tmp_path):
    ran, database = supervise(
        build, tmp_path, "faults allocations 3", ("--replace", "hipMalloc.size=65536"), options=("--replace-dry",)
    )
    assert database.value("SELECT sum(n) FROM injection_hits") == 3
    assert database.value("SELECT max(size) FROM allocations") == 12288 and ran.status == 0
    verdict = subprocess.run(
        [build.fade_query, tmp_path / "run.db", "verdict"], capture_output=True, text=True, check=True
    )
    assert "fade replaced nothing (--replace-dry): 3 values match the rules" in verdict.stdout


def test_a_plan(build, tmp_path):
    plan = tmp_path / "plan.txt"
    plan.write_text("# faults of a bad day\nhipMalloc:error=2:when=2   # once\nhipMalloc.size=8192:when=1\n")
    ran, database = supervise(build, tmp_path / "run", "faults allocations 2", ("--inject-plan", plan))
    assert lines(ran)[1].startswith("2: 2 null")
    assert database.rows("SELECT origin, hits FROM injections") == [(f"{plan}:2:1", 3), (f"{plan}:3:1", 1)]


@pytest.mark.parametrize(
    "options, says",
    [
        (["--inject", "hipMaloc:error=2"], "did you mean 'hipMalloc'?"),
        (["--inject", "hipMalloc:error=hipErrorOutOfMemry"], "did you mean 'hipErrorOutOfMemory'?"),
        (["--replace", "hipMalloc.sice=2"], "did you mean 'size'?"),
        (["--inject-plan", "bad.txt"], "bad.txt:2:11: cannot use"),
        (["--inject-plan", "missing.txt"], "cannot read the rules in missing.txt"),
        (["--inject", "hipMalloc:error=2:chance=1", "--seed", "x"], "--seed"),
    ],
)
def test_a_wrong_rule_is_refused_before_the_program_starts(build, tmp_path, options, says):
    (tmp_path / "bad.txt").write_text("\nhipMalloc:eror=2\n")
    ran = harness.run(
        [build.fade_run, "-o", "x.db", *options, "--", build.tracees / "loop"], build.environment("v6"), tmp_path
    )
    assert ran.status in (2, 125) and ran.counts == {} and says in ran.stderr.decode()


def test_the_report_and_the_end_say_it(build, tmp_path):
    command = [build.fade_run, "-o", tmp_path / "run.db", "--inject", "hipMalloc:error=2:when=2"]
    ran = harness.run([*command, "--", *build.command("faults training 3")], build.environment("v6"), tmp_path)
    assert "fade failed 1 call on request" in ran.stderr.decode() and "is out of memory" not in ran.stderr.decode()
    asked = lambda *words: subprocess.run(  # noqa: E731
        [build.fade_query, tmp_path / "run.db", *words], capture_output=True, text=True, check=True
    ).stdout
    assert "hipErrorOutOfMemory" in asked("injections") and "on request" in asked("summary")
    assert "on request" in asked("verdict")
    rows = asked("errors", "-f", "csv", "--columns", "name,injected").splitlines()
    assert rows == ["name,injected", "hipMalloc,1"]
    unused = [build.fade_run, "-o", tmp_path / "no.db", "--inject", "hipArrayCreate:error=2"]
    ran = harness.run([*unused, "--", *build.command("faults training 3")], build.environment("v6"), tmp_path)
    assert "no --inject or --replace rule took effect" in ran.stderr.decode()


@pytest.mark.parametrize("devices", [0, 1])
def test_fewer_devices_are_as_if_there_were_no_more(build, tmp_path, devices):
    there = "RX 6800 XT" if devices else "none"
    alone = harness.run_alone(build, "faults devices", "v6", tmp_path, FADE_STANDIN_DEVICES=there)
    ran, database = supervise(build, tmp_path, "faults devices", f"fewer-devices={devices}")
    told = [line for line in lines(ran) if devices or line.startswith("count")]
    assert told == alone.stdout.decode().splitlines()[: len(told)] and len(told) == (4 if devices else 1)
    assert database.value("SELECT sum(hits) FROM injections") > 1


@pytest.mark.parametrize("rule", ["fewer-devices=0", "hipGetDeviceCount:error=100", "hide-device=0"])
def test_the_verdict_does_not_blame_the_machine(build, tmp_path, rule):
    there = {"FADE_STANDIN_DEVICES": "RX 6800 XT", "FADE_STANDIN_HIDES": "1"}
    ran, database = supervise(build, tmp_path, "faults devices", rule, **there)
    assert "no ROCm-capable device" in lines(ran)[0] or "(100)" in lines(ran)[0]
    reason, advice = database.rows("SELECT reason, advice FROM verdicts")[0]
    assert f"--inject {rule}" in reason and "no fault of the machine" in advice


def test_a_hidden_device_is_in_no_answer(build, tmp_path):
    named = {"FADE_STANDIN_DEVICES": "RX 6800 XT,RX 7900 XTX,RX 6600", "FADE_STANDIN_BUSES": "3,4,5"}
    left = {"FADE_STANDIN_DEVICES": "RX 6800 XT,RX 6600", "FADE_STANDIN_BUSES": "3,5"}
    alone = harness.run_alone(build, "faults devices", "v6", tmp_path, **left)
    ran, database = supervise(build, tmp_path, "faults devices", "hide-device=1", FADE_STANDIN_HIDES="1", **named)
    assert ran.stdout == alone.stdout and ran.status == alone.status and len(lines(ran)) == 4
    assert database.rows("SELECT hits, action FROM injections") == [(1, "hide-device=1")]
    action, became = database.rows("SELECT action, became FROM injection_hits")[0]
    assert action == "environment" and became.startswith("HIP_VISIBLE_DEVICES=0,2")


def test_a_running_program_keeps_its_devices(build, start):  # noqa: F811
    target = start("faults endless")
    command = [build.folder / "cli" / "attach" / "fade-attach", "--inject", "hide-device=0", str(target.pid)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert "has its list of devices already" in done.stderr and "fewer-devices=N" in done.stderr
    assert target.end() == ("done well\n", 0)


def test_less_memory_is_less_in_each_answer(build, tmp_path):
    ran, database = supervise(build, tmp_path, "faults fill 16", "less-memory=64M")
    assert lines(ran) == ["got 64 MiB, then 2; 0 of 64 MiB are free"] and ran.status == 0
    assert hits(database) == 1 and ran.total["hipMalloc"] == 5
    assert database.value("SELECT count(*) FROM ooms") == 0


# ---------------------------------------------------------------- coming, going and dying


def test_rules_are_gone_after_the_detachment(start, attach):  # noqa: F811
    target = start("faults endless")
    attachment = attach(target, "--inject", "hipMalloc:error=2:every=2").has_come()
    target.calls_on(200)
    database = attachment.leave()
    assert hits(database) > 20
    assert target.tracers() == {0} and differing_text(target)[0] == 0
    target.calls_on(200)
    last, status = target.end()
    assert (last, status) == ("done well\n", 0)


def test_a_detachment_does_not_wait_for_a_delay(start, attach):  # noqa: F811
    target = start("faults endless")
    attachment = attach(target, "--inject", "hipMalloc:delay=1h").has_come()
    until(lambda: "t" in target.states(), "the delay")
    attachment.leave()
    target.calls_on(50)
    assert target.end() == ("done well\n", 0)


def test_a_stop_of_the_process_does_not_wait_for_a_delay(build, tmp_path):
    command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--inject", "hipMalloc:delay=1h", "-e", "mem", "--"]
    fade = subprocess.Popen([*command, *build.command("faults slow 5")], env=build.environment("v6"), cwd=tmp_path)
    try:
        until((tmp_path / "run.db").exists, "the recording")
        database = harness.Database(tmp_path / "run.db")
        until(lambda: database.value("SELECT count(*) FROM sqlite_master WHERE name = 'injection_hits'"), "the views")
        pid = until(lambda: database.value("SELECT max(pid) FROM injection_hits"), "the delay")
        os.kill(pid, signal.SIGSTOP)  # its other thread takes it
        until(
            lambda: database.value(
                "SELECT count(*) FROM lifecycle WHERE detail LIKE 'a delay of --inject ended early%'"
            ),
            "the end of the delay",
        )
        # only what the thread was really held for
        longest = "SELECT max(duration) FROM calls WHERE name = 'hipMalloc'"
        assert (database.value(longest) or 0) < 3_600_000_000_000
    finally:
        for pid in reversed(harness.descendants(fade.pid)):
            os.kill(pid, signal.SIGKILL)
        fade.wait(60)


@pytest.mark.parametrize("rule", ["hipMalloc:error=2:every=2", "hipMalloc:delay=3ms", "hipMalloc:delay=1h"])
def test_no_program_is_lost_if_fade_is_killed(start, attach, rule):  # noqa: F811
    target = start("faults endless")
    for i in range(15):
        attachment = attach(target, "--inject", rule, "--inject", "hipFree:delay_exit=1ms:every=3").has_come()
        time.sleep(0.001 * i)
        attachment.process.send_signal(signal.SIGKILL)
        attachment.process.wait(60)
        attachment.database.unlink()
        target.calls_on(20)
    assert target.end() == ("done well\n", 0)
