"""fade-query export --format rocpd: a database that AMD's rocpd tools read."""
import json
import signal
import sqlite3
import subprocess
import time

import pytest

import harness
from queries import ENVIRONMENT
from rocpd import Rocpd
from gpu_works import recorded
from test_timeline import CALL, changed


@pytest.fixture(scope="module")
def demo(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rocpd")
    command = [
        build.fade_run,
        "-q",
        "-k",
        "all",
        "--detail",
        "full",
        "--set",
        "device.0.multiProcessorCount=72",
        "-o",
        folder / "demo.db",
        "--",
        build.demo / "fade-demo",
    ]
    assert harness.run(command, build.environment("v6"), folder).status == 0
    return folder / "demo.db"


@pytest.fixture(scope="module")
def works(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rocpd_works")
    recorded(build, "gpu_work 200 2 4", folder)
    return folder / "run.db"


@pytest.fixture
def export(build, tmp_path):
    def ask(*words, file="out.db"):
        done = subprocess.run(
            [build.fade_query, "export", *map(str, words), "-o", file],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert not list(tmp_path.glob("*.part*")) and not list(tmp_path.glob("*-journal"))
        return Rocpd(tmp_path / file)

    return ask


def test_each_call_is_a_region(demo, export):
    out, database = export(demo), harness.Database(demo)
    (boot,) = database.rows("SELECT boot_ns FROM sessions")[0]
    calls = database.rows("SELECT id, name, pid, tid, start, \"end\" FROM calls ORDER BY id")
    regions = out.rows(
        "SELECT stack_id, name, pid, tid, start, \"end\" FROM db0.regions WHERE category LIKE 'HIP%' ORDER BY 1"
    )
    assert calls and regions == [
        (i, name, pid, tid, start + boot, end + boot) for i, name, pid, tid, start, end in calls
    ]


def test_results_arguments_and_stacks(demo, export):
    out, database = export(demo), harness.Database(demo)
    failed = database.rows("SELECT id, result_name FROM calls WHERE failed ORDER BY id")
    assert failed and failed == out.rows(
        "SELECT stack_id, arg_value FROM db0.events_args WHERE arg_position = -1 AND arg_name = 'return' "
        "AND stack_id IN (SELECT r.stack_id FROM db0.regions r WHERE json_extract(r.extdata, '$.failed')) ORDER BY 1"
    )
    call, args = database.rows("SELECT id, args FROM calls WHERE name = 'hipMalloc' ORDER BY id LIMIT 1")[0]
    told = dict(
        out.rows(f"SELECT arg_name, arg_value FROM db0.events_args WHERE stack_id = {call} AND arg_position >= 0")
    )
    assert told == {name: str(value) for name, value in json.loads(args).items()}
    frames = json.loads(out.value(f"SELECT call_stack FROM db0.regions WHERE stack_id = {call}"))
    assert any("main" in frame["name"] for frame in frames)


def test_work_of_gpus_and_its_calls(works, export):
    out, database = export(works), harness.Database(works)
    (boot,) = database.rows("SELECT boot_ns FROM sessions")[0]
    kernels = out.rows(
        "SELECT stack_id, name, pid, tid, start, \"end\", queue_id % 65536, agent_type_index FROM db0.kernels ORDER BY "
        "dispatch_id"
    )
    assert kernels == [
        (call, name, pid, tid, start + boot, end + boot, queue, device)
        for call, name, pid, tid, start, end, queue, device in database.rows(
            "SELECT call, name, pid, tid, start, \"end\", queue, device FROM gpu_work WHERE kind <> 'barrier' AND name "
            "<> kind ORDER BY id"
        )
    ]
    copies = out.rows("SELECT stack_id, size, start, \"end\" FROM db0.memory_copies ORDER BY id")
    assert copies and copies == [
        (call, size, start + boot, end + boot)
        for call, size, start, end in database.rows(
            "SELECT call, bytes, start, \"end\" FROM gpu_work WHERE name = 'copy' ORDER BY id"
        )
    ]
    assert {row[0] for row in out.rows("SELECT DISTINCT name FROM db0.memory_copies")} <= {
        "MEMORY_COPY_HOST_TO_DEVICE",
        "MEMORY_COPY_DEVICE_TO_HOST",
    }
    # A grid in work-items, where fade counts work-groups.
    assert out.rows(
        "SELECT DISTINCT workgroup_x, grid_x FROM db0.kernels WHERE region = 'hipLaunchKernel'"
    ) == database.rows("SELECT DISTINCT block_x, grid_x * block_x FROM launches")
    assert out.value("SELECT sum(total_calls) FROM db0.top_kernels") == len(kernels)


def test_allocations_and_frees(demo, export):
    out, database = export(demo), harness.Database(demo)
    assert out.rows(
        "SELECT type, count(*), sum(size) FROM db0.memory_allocations GROUP BY 1 ORDER BY 1"
    ) == database.rows(
        "SELECT 'ALLOC', count(*), sum(size) FROM allocations UNION ALL SELECT 'FREE', count(*), 0 FROM allocations "
        "WHERE free_call IS NOT NULL"
    )


def test_nothing_is_made_up(demo, export):
    out = export(demo)
    assert (
        out.value("SELECT count(*) FROM rocpd_kernel_dispatch")
        == out.value("SELECT count(*) FROM rocpd_memory_copy")
        == 0
    )
    assert out.metadata()["fade: times of the GPU"] == "none were recorded"


def test_work_without_a_call_is_told(works, export, tmp_path, build):
    copy = changed(works, tmp_path, "UPDATE gpu_work_ SET call = NULL, device = NULL, queue = NULL WHERE id <= 7")
    out = export(copy)
    assert out.metadata()["fade: works of no known device or kernel, left out"] == "7"


def test_work_of_no_known_call_is_counted(works, export, tmp_path):
    copy = changed(
        works,
        tmp_path,
        "UPDATE gpu_work_ SET call = NULL WHERE id IN (SELECT id FROM gpu_work_ WHERE kind <> 3 ORDER BY id LIMIT 9)",
    )
    out = export(copy)
    assert out.metadata()["fade: works of no known call, with stack_id 0"] == "9" and "left out" not in str(
        out.metadata()
    )
    # The views of rocpd show a copy only if it has an agent on both sides.
    assert out.value("SELECT count(*) FROM memory_copies") == out.value("SELECT count(*) FROM rocpd_memory_copy")


def test_ranges_are_markers(build, export, tmp_path):
    environment = build.environment("v6")
    environment["LD_LIBRARY_PATH"] = f"{build.runtimes / 'markers'}:{environment['LD_LIBRARY_PATH']}"
    program = [
        build.tracees / "ranges",
        *"libroctx64.so.4 push=step launch=2 push=inner copy pop mark=here pop start=s launch stop again=3".split(),
    ]
    assert (
        harness.run(
            [build.fade_run, "-q", "-o", tmp_path / "run.db", "--step", "range:step", "--", *program],
            environment,
            tmp_path,
        ).status
        == 0
    )
    out, database = export(tmp_path / "run.db"), harness.Database(tmp_path / "run.db")
    told = out.rows(
        "SELECT name, json_extract(extdata, '$.message') FROM db0.regions_and_samples WHERE category LIKE 'MARKER%' "
        "ORDER BY 1, 2"
    )
    words = {"range": "roctxThreadRangeA", "start-stop": "roctxProcessRangeA", "mark": "roctxMarkA"}
    assert told and told == sorted((words[kind], name) for kind, name in database.rows("SELECT kind, name FROM ranges"))
    assert out.value("SELECT count(*) FROM db0.regions WHERE category = 'FADE_STEP'") == database.value(
        "SELECT count(*) FROM steps"
    )


def test_filters(works, export):
    database = harness.Database(works)
    assert {
        name
        for (name,) in export(works, "--name", "^hipMemcpy$").rows(
            "SELECT DISTINCT name FROM db0.regions WHERE category LIKE 'HIP%'"
        )
    } == {"hipMemcpy"}
    middle = database.value("SELECT start FROM gpu_work ORDER BY id LIMIT 1 OFFSET 100")
    out = export(works, "--from", f"{middle}ns", file="late.db")
    n, whole = out.value("SELECT count(*) FROM rocpd_kernel_dispatch"), export(works, file="whole.db").value(
        "SELECT count(*) FROM rocpd_kernel_dispatch"
    )
    assert 0 < n < whole - 50
    pid = database.value("SELECT pid FROM processes")
    assert export(works, "--pid", pid, file="of_pid.db").value("SELECT count(*) FROM rocpd_region") > 0
    none = export(works, "--pid", pid + 1, file="none.db")
    assert none.value("SELECT count(*) FROM rocpd_region") == none.value("SELECT count(*) FROM rocpd_info_process") == 0


def test_the_same_export_has_the_same_identity_and_files_unite(works, demo, export, tmp_path):
    first, again, other = (
        export(works, file="a.db").metadata(),
        export(works, file="b.db").metadata(),
        export(demo, file="c.db").metadata(),
    )
    assert first["guid"] == again["guid"] != other["guid"]
    both = Rocpd(tmp_path / "a.db", tmp_path / "c.db")
    assert both.value("SELECT count(*) FROM rocpd_info_process") == 2


def test_calls_without_an_end(demo, export, tmp_path):
    ids = [i for (i,) in harness.Database(demo).rows("SELECT id FROM calls ORDER BY id DESC LIMIT 3")]
    copy = changed(
        demo,
        tmp_path,
        f"UPDATE call_ SET dur = NULL WHERE id IN ({','.join(map(str, ids))})",
        f"INSERT INTO unwound_ VALUES ({ids[1]}, -1), ({ids[2]}, NULL)",
    )
    states = dict(
        export(copy).rows(
            "SELECT stack_id, json_extract(extdata, '$.state') FROM db0.regions WHERE category LIKE 'HIP%'"
        )
    )
    assert [states[i] for i in ids] == ["open", "entry only", "unseen"]


def test_whatever_the_texts_are(demo, export, tmp_path):
    evil = "char(27) || '[2J' || char(10) || '\"\\;--''' || CAST(x'ff' AS TEXT) || hex(zeroblob(5000))"
    copy = changed(
        demo,
        tmp_path,
        *(
            f"UPDATE {table} SET {column} = {evil}"
            for table, column in (
                ("function_", "name"),
                ("thread_", "name"),
                ("process_", "command"),
                ("process_", "env"),
                ("session_", "host"),
                ("frame_", "name"),
                ("kernel_", "demangled"),
            )
        ),
        "UPDATE arg_ SET args = '{\"a\":' WHERE call = (SELECT min(call) FROM arg_)",
    )
    assert export(copy).value("SELECT count(*) FROM db0.regions") > 0


def test_a_recording_of_nothing(demo, export, tmp_path):
    copy = changed(
        demo,
        tmp_path,
        *(
            f"DELETE FROM {table}"
            for table in ("call_", "arg_", "error_", "alloc_", "copy_", "lifecycle_", "process_", "thread_", "session_")
        ),
    )
    assert export(copy).value("SELECT count(*) FROM rocpd_region") == 0


def test_several_sessions(build, export, tmp_path):
    command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--append", "--", *build.command("loop 3")]
    for _ in range(2):
        assert harness.run(command, build.environment("v6"), tmp_path).status == 0
    out, database = export(tmp_path / "run.db", "--session", "all"), harness.Database(tmp_path / "run.db")
    boots = dict(database.rows("SELECT id, boot_ns FROM sessions"))
    assert out.rows("SELECT stack_id, start FROM db0.regions WHERE category LIKE 'HIP%' ORDER BY 1") == [
        (i, boots[session] + start)
        for i, session, start in database.rows("SELECT id, session, start FROM calls ORDER BY id")
    ]


def test_it_needs_a_file(build, demo, tmp_path):
    for words in (["--format", "rocpd"], ["--format", "rocpd", "-o", "/dev/null"]):
        done = subprocess.run(
            [build.fade_query, "export", demo, *words], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
        )
        assert done.returncode == 2 and "file of its own" in done.stderr
    (tmp_path / "a.db").write_bytes(b"mine")
    done = subprocess.run(
        [build.fade_query, "export", demo, "-o", "a.db"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 1 and "--force" in done.stderr and (tmp_path / "a.db").read_bytes() == b"mine"
    done = subprocess.run(
        [build.fade_query, "export", demo, "-o", demo, "--force"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "is the recording" in done.stderr


def test_a_full_disk_leaves_no_half_file(build, works, tmp_path):
    limit = f"ulimit -f 64; trap '' XFSZ; exec {build.fade_query} export {works} -o a.db"
    done = subprocess.run(["bash", "-c", limit], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, timeout=60)
    assert done.returncode == 1 and not list(tmp_path.glob("a.*"))


def test_a_limit_of_file_size_leaves_no_file(build, works, tmp_path):
    done = subprocess.run(
        ["bash", "-c", f"ulimit -c 0 -f 64; exec {build.fade_query} export {works} -o a.db"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGXFSZ and not list(tmp_path.glob("a.*"))


@pytest.mark.parametrize("name", ["a.db", "a.pftrace", "a.trace.json", "a.pt.trace.json.gz"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_no_file(build, demo, tmp_path, name, number):
    last = harness.Database(demo).value("SELECT max(id) FROM calls")
    big = changed(demo, tmp_path, CALL.format(first=last, ts="1000000000 + n * 10", dur=7, count=1_000_000))
    with subprocess.Popen(
        [build.fade_query, "export", big, "-o", name], cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.DEVNULL
    ) as process:
        part = tmp_path / (name + ".part")
        until = time.monotonic() + 60
        while not (part.exists() and part.stat().st_size > 0) and time.monotonic() < until:
            time.sleep(0.005)
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(timeout=60) == -number
    assert not list(tmp_path.glob("a.*"))


def test_memory_stays_small_for_many_calls(build, demo, tmp_path):
    last = harness.Database(demo).value("SELECT max(id) FROM calls")
    big = changed(demo, tmp_path, CALL.format(first=last, ts="1000000000 + n * 10", dur=7, count=200_000))

    def peak_kib(database, name):
        return harness.peak_kib([build.fade_query, "export", database, "-o", tmp_path / name], ENVIRONMENT)

    assert peak_kib(big, "big.db") < peak_kib(demo, "small.db") + 64 * 1024
    connection = sqlite3.connect(tmp_path / "big.db")
    assert connection.execute("SELECT count(*) FROM rocpd_region").fetchone()[0] > 200_000
