"""Two replicas of one shard, by a real ZooKeeper: one dies, the other has all rows, and nothing comes twice."""
import os
import subprocess
import sys
import time

import pytest

import real_world as world
import zookeeper

sys.path.insert(0, str(world.HERE.parent / "e2e"))
import clickhouse  # noqa: E402  (needs the path above)
import fleets  # noqa: E402
from harness import Build  # noqa: E402

pytestmark = pytest.mark.skipif(not clickhouse.PROGRAM, reason="no clickhouse-server: docker/install-deps.sh test")

SMALL = os.environ.get("FADE_REAL", "").lower() == "small"
RANKS = 4


@pytest.fixture
def keeper(build_dir, step, tmp_path_factory):
    if SMALL:
        pytest.skip("FADE_REAL=small leaves out ZooKeeper, a download of 50 MB")
    why = []
    step("ZooKeeper unpacked", lambda: why.append(zookeeper.unpack(build_dir / "real/zookeeper")) or "")
    if why[0]:
        pytest.skip(f"Debian's archive has no ZooKeeper for us: {why[0]}")
    folder = tmp_path_factory.mktemp("zookeeper")
    one = zookeeper.ZooKeeper(build_dir / "real/zookeeper", folder, clickhouse.free_port())
    yield one.start()
    one.stop()


@pytest.fixture(scope="module")
def build(build_dir):
    return Build(build_dir)


@pytest.fixture
def push(build):
    def run(*words):
        env = {**world.clean_environment(), **clickhouse.environment()}
        return subprocess.run([build.fade_query, "push", *map(str, words)], env=env, capture_output=True, text=True,
                              timeout=120)

    return run


@pytest.fixture
def replicas(keeper, tmp_path_factory, push):
    both = [clickhouse.Server(clickhouse.folder_of(tmp_path_factory, name)) for name in ("first", "second")]
    try:
        for one in both:
            one.start(both, keeper=keeper.port)
        for one in both:
            made = push(one.url, "--init", "--cluster", "pair")
            assert made.returncode == 0, made.stderr
        yield both
    finally:
        for one in both:
            one.stop()


def wait_for(condition):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("this did not happen in 30 s")


def counts(server, tables=("calls_", "launches_", "gpu_work_", "steps_", "recordings_")):
    return [server.number(f"SELECT count() FROM {table}") for table in tables]


def test_a_replica_dies_and_nothing_is_lost_or_there_twice(build, replicas, push, tmp_path):
    first, second = replicas
    engines = {row[0] for row in first.ask("SELECT DISTINCT engine FROM system.tables WHERE name = 'calls_'")}
    assert engines == {"ReplicatedMergeTree"}
    paths = fleets.make_job(build, tmp_path, ranks=RANKS)
    early, late = paths[: RANKS // 2], paths[RANKS // 2 :]

    sent = push(first.url, "--job", "train", *early)
    assert sent.returncode == 0, sent.stderr
    wait_for(lambda: counts(second) == counts(first))
    half = counts(second)
    first.kill()

    assert counts(second) == half
    again = push(second.url, "--job", "train", *early)
    assert again.returncode == 0 and again.stderr.count("has all of it already") == len(early), again.stderr
    rest = push(second.url, "--job", "train", *late)  # while the other one is dead
    assert rest.returncode == 0, rest.stderr
    whole = counts(second)
    assert whole == [2 * n for n in half]

    first.start()
    wait_for(lambda: counts(first) == whole)
    again = push(first.url, "--job", "train", *paths)
    assert again.returncode == 0 and again.stderr.count("has all of it already") == RANKS, again.stderr
    assert counts(first) == counts(second) == whole
    distinct = first.number("SELECT uniqExact(recording, id) FROM calls_")
    assert distinct == whole[0]
