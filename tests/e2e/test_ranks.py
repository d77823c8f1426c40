"""Ranks of a distributed job on one machine: who they are, which failed first, which makes the others wait."""

import shutil
import subprocess
import sys
import textwrap

import pytest

import harness

TORCHRUN = shutil.which("torchrun")
MPIRUN = shutil.which("mpirun")

# A rank that copies and, with libraries, reduces: all ranks wait for the slowest one, as a collective does. argv: the
# rank that is slow, the one that fails.
WORK = textwrap.dedent(
    """
    import ctypes, os, sys, time
    rank = int(next(os.environ[n] for n in ("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID") if n in os.environ))
    world = int(next((os.environ[n] for n in ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE") if n in os.environ), 4))
    hip = ctypes.CDLL("libamdhip64.so.6")
    rccl = ctypes.CDLL("librccl.so.1") if os.environ.get("WITH_RCCL") else None
    class Id(ctypes.Structure):
        _fields_ = [("bytes", ctypes.c_char * 128)]
    comm = ctypes.c_void_p()
    if rccl:
        rccl.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, Id, ctypes.c_int]
        rccl.ncclAllReduce.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                                       ctypes.c_void_p, ctypes.c_void_p]
        assert rccl.ncclCommInitRank(ctypes.byref(comm), world, Id(), rank) == 0
    pointer = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t((rank + 1) << 20)) == 0
    barrier = os.environ["MEETING"]

    def tell(place):
        open(f"{barrier}/{place}-{rank}", "w").close()

    def wait_for_others(place):
        for other in {*range(world)} - {rank}:
            while not os.path.exists(f"{barrier}/{place}-{other}"):
                time.sleep(0.001)

    for step in range(8):
        tell(f"{step}-begin")
        wait_for_others(f"{step}-begin")
        for _ in range(4):
            assert hip.hipMemcpy(pointer, bytes(64), ctypes.c_size_t(64), 1) == 0
        tell(f"{step}-enter")
        if rank == int(sys.argv[1]):  # the last one, however busy the machine is
            wait_for_others(f"{step}-enter")
            time.sleep(0.1)
        if rccl:
            assert rccl.ncclAllReduce(pointer, pointer, 1024, 7, 0, comm, None) == 0
        hip.hipDeviceSynchronize()
    if rank == int(sys.argv[2]):
        hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 60))
        sys.exit(3)
    """
)

# What torchrun does, in a few lines: it sets the variables, and ends all ranks when one has failed.
LAUNCHER = textwrap.dedent(
    """
    import multiprocessing, os, runpy, sys, time
    def work(rank, world):
        sys.argv.pop(0)
        runpy.run_path(sys.argv[0], run_name="__main__")
    if __name__ == "__main__":
        world = int(sys.argv.pop(1))
        start = multiprocessing.get_context("spawn")
        ranks = []
        for rank in range(world):
            os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world), GROUP_RANK="0")
            ranks.append(start.Process(target=work, args=(rank, world)))
            ranks[-1].start()
        while any(one.exitcode is None for one in ranks):
            if any(one.exitcode for one in ranks):
                time.sleep(0.2)
                for one in ranks:
                    one.terminate()
            time.sleep(0.01)
        sys.exit(max(abs(one.exitcode) for one in ranks))
    """
)


@pytest.fixture
def job(build, tmp_path):
    """Records a job of ranks; gives the database and a function that asks fade-query."""

    def run(command, *options, slow=-1, fails=-1, status=0, **variables):
        (tmp_path / "work.py").write_text(WORK)
        (tmp_path / "meeting").mkdir()
        env = build.environment("v6", MEETING=str(tmp_path / "meeting"), WITH_RCCL="1", **variables)
        env["LD_LIBRARY_PATH"] += f":{build.runtimes / 'libraries'}"
        words = [build.fade_run, "-q", *options, "-o", tmp_path / "run.db", "--"]
        words += [*command, tmp_path / "work.py", str(slow), str(fails)]
        ran = harness.run(words, env, tmp_path / "in", timeout=120)
        assert (ran.status != 0) == (status != 0), ran.stderr
        return harness.Database(tmp_path / "run.db")

    return run


@pytest.fixture
def launcher(tmp_path):
    (tmp_path / "launcher.py").write_text(LAUNCHER)
    return [sys.executable, tmp_path / "launcher.py", "4"]


def page(build, tmp_path, *options):
    words = [build.fade_query, tmp_path / "run.db", "ranks", "--format", "table", *options]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    return " ".join(told.stdout.split())


COLLECTIVES = ("-e", "all,comm", "--step", "hipDeviceSynchronize")


def test_a_known_straggler_is_named(build, job, launcher, tmp_path):
    database = job(launcher, *COLLECTIVES, slow=2)
    assert database.rows(
        "SELECT DISTINCT rank, local_rank, world_size, group_rank, source FROM process_ranks ORDER BY rank"
    ) == [(rank, rank, 4, 0, "RANK") for rank in range(4)]
    text = page(build, tmp_path)
    assert "4 ranks of 4 on" in text and "told by RANK" in text
    assert "the others wait for rank 2: it entered" in text and "of 8 collective operations last" in text
    assert "no rank is clearly slower" in text, "each step waits for the slowest rank"
    assert "rank 3 has most, 4.00 MiB; rank 0 has least, 1.00 MiB" in text
    assert "failed" not in text


def test_the_rank_that_failed_first_is_named(build, job, launcher, tmp_path):
    job(launcher, *COLLECTIVES, fails=1, status=3)
    text = page(build, tmp_path)
    assert "failed first rank 1 after" in text and "(exit status 3), its first failed call: hipMalloc returned" in text
    assert "errors rank 1 has most, 1; rank 0 has least, 0" in text


def test_without_a_straggler_no_rank_is_blamed(build, job, launcher, tmp_path):
    job(launcher, "-e", "all")
    text = page(build, tmp_path)
    assert "not known: no collective operation was recorded" in text and "-e all,comm" in text


def test_operations_that_lack_rows_are_not_compared(build, job, launcher, tmp_path):
    job(launcher, *COLLECTIVES, "--schedule", "wait=1,active=2", slow=2)
    text = page(build, tmp_path)
    assert "operations cannot be matched" in text and "--schedule" in text
    assert "the others wait for rank" not in text


@pytest.mark.skipif(TORCHRUN is None, reason="torchrun is not installed")
def test_torchrun(build, job, tmp_path):
    (tmp_path / "nothing.py").write_text("")
    command = [TORCHRUN, "--standalone", "--nproc_per_node"]
    if subprocess.run([*command, "1", tmp_path / "nothing.py"], capture_output=True).returncode != 0:
        pytest.skip("torchrun does not work with this Python")
    database = job([*command, "4"], *COLLECTIVES, slow=1)
    assert database.rows("SELECT DISTINCT rank, world_size FROM process_ranks ORDER BY rank") == [
        (rank, 4) for rank in range(4)
    ]
    assert "the others wait for rank 1" in page(build, tmp_path)


@pytest.mark.skipif(MPIRUN is None, reason="mpirun is not installed")
def test_open_mpi(build, job, tmp_path):
    command = [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", "4", sys.executable]
    database = job(command, *COLLECTIVES, slow=3)
    assert database.rows("SELECT DISTINCT rank, local_rank, world_size, source FROM process_ranks ORDER BY rank") == [
        (rank, rank, 4, "OMPI_COMM_WORLD_RANK") for rank in range(4)
    ]
    text = page(build, tmp_path)
    assert "told by OMPI_COMM_WORLD_RANK" in text and "the others wait for rank 3" in text


def test_a_job_without_ranks_says_so(build, tmp_path):
    words = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", *build.command("plain")]
    subprocess.run(words, env=build.environment("v6"), check=False)
    assert "No process of this recording has a rank." in page(build, tmp_path)
