"""--sample: lines of Python of threads that are in no call, read while they run."""
import subprocess
import textwrap

import pytest

import harness

PYTHON = "/usr/bin/python3"
WRAPPER = """
    import ctypes
    hip = ctypes.CDLL("libamdhip64.so.6")
    def synchronize():
        hip.hipDeviceSynchronize()
    def spin(n):
        total = 0
        for i in range(n):
            total += i
        return total
    """
SLOW_STEP = """
    import sys, time
    sys.path.insert(0, "site-packages")
    import gpu
    def load_batch(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            gpu.spin(1000)  # the line that counts
    gpu.synchronize()
    for step in range(6):
        load_batch(1.0 if step == 3 else 0.02)
        gpu.synchronize()
    """
# Each function is called by one other alone, so a stack that mixes two moments shows.
CHAINS = """
    import sys, threading, time
    sys.path.insert(0, "site-packages")
    import gpu
    def make(name, depth):
        text = "".join(f"def {name}{i}(n):\\n    return {name}{i + 1}(n) + {name}{i + 1}(n - 1)\\n"
                       for i in range(depth))
        space = {}
        exec(compile(text + f"def {name}{depth}(n):\\n    return n\\n", f"{name}.py", "exec"), space)
        return space[f"{name}0"]
    functions = [make(name, 6) for name in ("a", "b", "c")]
    def work(seconds):
        gpu.synchronize()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for function in functions:
                function(3)
        gpu.synchronize()
    threads = [threading.Thread(target=work, args=(3,)) for _ in range(3)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    """


def record(build, folder, program, *options):
    (folder / "site-packages").mkdir()
    (folder / "site-packages" / "gpu.py").write_text(textwrap.dedent(WRAPPER))
    (folder / "job.py").write_text(textwrap.dedent(program).lstrip())
    environment = {**build.environment("v6"), "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                   "FADE_CONFIG": "/dev/null"}
    ran = harness.run([build.fade_run, "-q", *options, "-o", "run.db", "--", PYTHON, "job.py"], environment, folder)
    assert ran.status == 0, ran.stderr
    return harness.Database(folder / "run.db")


def ask(build, folder, *words):
    return subprocess.run([build.fade_query, folder / "run.db", *words], capture_output=True,
                          text=True, check=True, timeout=60,
                          env={"COLUMNS": "120", "LC_ALL": "C.UTF-8", "FADE_CONFIG": "/dev/null"}).stdout


def test_slow_steps_name_the_line_of_the_programs_own_work(build, tmp_path):
    record(build, tmp_path, SLOW_STEP, "--sample", "100", "--step", "hipDeviceSynchronize")
    line = 1 + next(i for i, text in enumerate(textwrap.dedent(SLOW_STEP).lstrip().splitlines())
                    if "that counts" in text)
    page = ask(build, tmp_path, "steps", "--format", "table")
    assert f"most samples of step 4: job.py:{line} load_batch (" in page
    slow = ask(build, tmp_path, "steps", "--slow", "--format", "table")
    assert f"job.py:{line} load_batch (" in slow
    first = ask(build, tmp_path, "samples", "--format", "csv").splitlines()[1]
    assert first.startswith(f"job.py:{line},load_batch,")
    skipped = ask(build, tmp_path, "samples", "--skip-frames", "load_batch", "--format", "csv").splitlines()[1]
    call = 1 + next(i for i, text in enumerate(textwrap.dedent(SLOW_STEP).lstrip().splitlines())
                    if "load_batch(1.0" in text)
    assert skipped.startswith(f"job.py:{call},<module>,")


def test_stacks_of_running_threads_are_possible_ones(build, tmp_path):
    database = record(build, tmp_path, CHAINS, "--sample", "500")
    frames = dict(database.rows("SELECT id, name FROM frame_ WHERE kind = 1"))
    tree = {stack: (parent, frame) for stack, parent, frame in database.rows("SELECT id, parent, frame FROM stack_")}
    seen = database.rows("SELECT stack FROM sample_")
    assert len(seen) > 100
    for stack, in seen:
        names = []
        while stack:
            stack, frame = tree[stack]
            names.append(frames[frame])
        chain = [name for name in names if name[0] in "abc" and name[1:].isdigit()]
        assert chain == [f"{chain[0][0]}{i}" for i in range(len(chain) - 1, -1, -1)] if chain else True, names


def test_sums_alone_have_samples_too(build, tmp_path):
    database = record(build, tmp_path, SLOW_STEP, "--sample", "100", "--detail", "stats")
    assert database.value("SELECT count(*) FROM samples WHERE function = 'load_batch'") > 5


def test_nothing_is_sampled_unless_asked(build, tmp_path):
    database = record(build, tmp_path, SLOW_STEP.replace("1.0 if", "0.1 if"))
    assert database.rows("SELECT count(*) FROM samples") == [(0,)]


def test_nothing_is_sampled_outside_of_the_window(build, tmp_path):
    database = record(build, tmp_path, SLOW_STEP, "--sample", "100", "--delay", "100s")
    assert database.rows("SELECT count(*) FROM samples") == [(0,)]


@pytest.mark.parametrize("rate", ["0", "1001", "x"])
def test_a_rate_that_is_none_is_refused(build, tmp_path, rate):
    ran = subprocess.run([build.fade_run, "--sample", rate, "true"], cwd=tmp_path,
                         capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2 and "--sample" in ran.stderr
