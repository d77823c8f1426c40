"""Reports over all recordings of a ClickHouse server: fade-query --on URL. Two real servers are two shards.

The faults of the recorded job are known (fleets.py)."""
import collections
import contextlib
import csv
import io
import json
import pathlib
import sqlite3
import subprocess

import pytest

import clickhouse
import fleets
import newer_clickhouse
from queries import ENVIRONMENT

pytestmark = pytest.mark.skipif(not clickhouse.PROGRAM, reason="no clickhouse-server: docker/install-deps.sh test")

SMALL = 4  # ranks of the job without times of GPUs
BOARD = pathlib.Path(__file__).parents[2] / "systemd" / "grafana-fleet.json"


def run(build, *words, **environment):
    env = {**ENVIRONMENT, **clickhouse.environment(), **environment}
    return subprocess.run([build.fade_query, *map(str, words)], env=env, capture_output=True, text=True, timeout=1200)


@pytest.fixture(scope="module")
def files(build, tmp_path_factory):
    """By the name of the job."""
    folders = {job: tmp_path_factory.mktemp(job) for job in ("train", "untimed")}
    return {
        "train": fleets.make_job(build, folders["train"]),
        "untimed": fleets.make_job(build, folders["untimed"], ranks=SMALL, is_timed=False),
    }


@pytest.fixture(scope="module")
def servers(build, tmp_path_factory):
    shards = [clickhouse.Server(clickhouse.folder_of(tmp_path_factory, f"shard{i}")) for i in range(2)]
    for shard in shards:
        shard.start(shards)
    for shard in shards:
        made = run(build, "push", shard.url, "--init", "--cluster", "pair")
        assert made.returncode == 0, made.stderr
    yield shards
    for shard in shards:
        shard.stop()


@pytest.fixture(scope="module")
def newer(build, tmp_path_factory):
    """The engine of a current ClickHouse."""
    one = newer_clickhouse.Server(clickhouse.folder_of(tmp_path_factory, "newer")).start()
    made = run(build, "push", one.url, "--init")
    assert made.returncode == 0, made.stderr
    yield one
    one.stop()


@pytest.fixture(scope="module", params=["servers", pytest.param("newer", marks=newer_clickhouse.NEEDED)])
def engines(request):
    """The one to send to, and the one to ask: the other shard answers as well."""
    got = request.getfixturevalue(request.param)
    return got if request.param == "servers" else [got, got]


@pytest.fixture(scope="module")
def url(build, engines, files):
    for job, paths in files.items():
        sent = run(build, "push", engines[0].url, "--job", job, *paths)
        assert sent.returncode == 0, sent.stderr
    return engines[1].url


@pytest.fixture(scope="module")
def merged(build, files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("merged")
    for job, paths in files.items():
        assert run(build, "merge", *paths, "-o", folder / f"{job}.db").returncode == 0
    return folder


@pytest.fixture(scope="module")
def ask(build, url):
    def rows(*words, job="train"):
        answer = run(build, "--on", url, *words, "--job", job, "-f", "csv", "--limit", "0")
        assert answer.returncode == 0, answer.stderr
        return list(csv.DictReader(io.StringIO(answer.stdout)))

    return rows


# ---------------------------------------------------------------- what is wrong with the job
def test_the_straggler_is_named_with_the_cause(ask):
    late = {int(row["step"]): row for row in ask("stragglers", "--sort", "step")}
    assert len(late) == fleets.STEPS and {row["by"] for row in late.values()} == {"collectives"}
    slow = [row for step, row in late.items() if step >= fleets.SLOW_FROM]
    assert {row["rank"] for row in slow} == {str(fleets.STRAGGLER)} and {row["host"] for row in slow} == {"node2"}
    for row in slow:
        assert row["category"] == "GPU" and abs(int(row["category_ns"]) - 120_000_000) < 1_000_000
        assert abs(int(row["late_ns"]) - 120_000_000) < 1_000_000
        assert (float(row["mhz"]), float(row["usual_mhz"])) == (1300, 2080)
        assert int(row["waited_ns"]) < 2_000_000 < 100_000_000 < int(row["usual_waited_ns"])
    once = late[fleets.LATE_STEP]
    assert (once["rank"], once["category"]) == (str(fleets.LATE_ONCE), "OUTSIDE")


def test_ranks_say_how_often_each_was_late_and_how_it_ended(ask):
    ranks = {int(row["rank"]): row for row in ask("ranks")}
    assert sorted(ranks) == list(range(fleets.RANKS))
    late = {rank: int(row["late_in"]) for rank, row in ranks.items() if int(row["late_in"])}
    assert late[fleets.STRAGGLER] == fleets.STEPS - fleets.SLOW_FROM + 1 and late[fleets.LATE_ONCE] == 1
    assert sum(late.values()) == fleets.STEPS
    first = min(ranks.values(), key=lambda row: int(row["failed_ns"]))
    assert (first["rank"], first["exit_code"], first["clock"]) == (str(fleets.FIRST_TO_FAIL), "1", "collectives")


def test_the_first_failure_is_found_though_the_clocks_differ(build, ask, merged):
    first = ask("errors")[0]
    assert (first["rank"], first["error"], first["clock"]) == (
        str(fleets.FIRST_TO_FAIL),
        "hipErrorIllegalAddress",
        "collectives",
    )
    assert abs(int(first["start_ns"]) - (fleets.FAILED_AT - fleets.MS)) < fleets.MS
    page = run(build, merged / "train.db", "ranks", "-f", "table").stdout  # by the wall clocks of the machines
    assert f"first rank {fleets.FIRST_TO_FAIL} " not in " ".join(page.split())


def test_without_times_of_gpus_the_wall_clocks_count_and_that_is_said(ask):
    rows = ask("errors", job="untimed")
    assert {row["clock"] for row in rows} == {"NTP"} and len(rows) == SMALL
    assert {row["by"] for row in ask("stragglers", job="untimed")} == {"duration"}


def test_the_machine_that_differs_is_named(ask):
    rows = {(row["section"], row["item"]): row for row in ask("diff") if row["where"] == f"node{fleets.BAD_HOST}"}
    wanted = {
        ("versions", "libamdhip64.so.6"): ("6.2.41133", "6.4.43484"),
        ("kernel", "Linux"): ("5.15.0-91-generic", "6.8.0-45-generic"),
        ("driver", "clock"): ("1900", "2100"),
        ("told", "clock"): ("1900", "2100"),
        ("sensors", "clock"): ("1880", "as usual"),
    }
    assert {key: (rows[key]["value"], rows[key]["usual"]) for key in wanted} == wanted
    assert {(row["hosts"], row["of"], row["ranks"]) for row in rows.values()} == {("1", "8", str(fleets.PER_HOST))}
    others = [row for row in ask("diff") if row["where"] != f"node{fleets.BAD_HOST}"]
    assert [(row["item"], row["where"], row["ranks"]) for row in others] == [("clock", "node2", "1")]


def test_jobs(ask):
    (train,) = ask("jobs")
    wanted = {
        "job": "train",
        "ranks": str(fleets.RANKS),
        "hosts": "8",
        "recordings": str(fleets.RANKS),
        "failed": str(fleets.RANKS),
        "going_on": "0",
        "world_size": str(fleets.RANKS),
    }
    assert {key: train[key] for key in wanted} == wanted


# ---------------------------------------------------------------- as on one machine
def rows_of(build, path, report):
    answer = run(build, path, report, "-f", "csv", "--limit", "0")
    assert answer.returncode == 0, answer.stderr
    return list(csv.DictReader(io.StringIO(answer.stdout)))


def counted(rows, columns):
    """Numbers as numbers: one side may write 1 and the other one 1.0."""
    return collections.Counter(tuple(number(row[column]) for column in columns) for row in rows)


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


@pytest.mark.parametrize("job", ["train", "untimed"])
@pytest.mark.parametrize(
    "report, apart",
    [
        ("top", set()),
        ("steps", set()),
        ("errors", {"start_ns", "last_ns", "call_id"}),  # times of the job; a merged file has ids of its own
        ("verdict", set()),
        ("memory", set()),
        ("libraries", set()),
    ],
)
def test_a_report_is_that_of_the_merged_file(build, ask, merged, job, report, apart):
    here, there = rows_of(build, merged / f"{job}.db", report), ask(report, job=job)
    columns = [name for name in here[0] if name in there[0] and name not in apart]
    assert len(columns) >= 8 and len(here) == len(there) > 0
    assert counted(there, columns) == counted(here, columns)


def test_kernels_of_one_name_are_added_up(build, ask, merged):
    here = collections.defaultdict(lambda: collections.Counter())
    for row in rows_of(build, merged / "train.db", "kernels"):
        here[row["name"]].update(
            {name: int(row[name]) for name in ("launches", "errors", "launch_total_ns", "gpu_runs", "gpu_total_ns")}
        )
    there = {row["name"]: {name: int(row[name]) for name in here[row["name"]]} for row in ask("kernels")}
    assert there == {name: dict(sums) for name, sums in here.items()}
    assert {row["slowest_rank"] for row in ask("kernels", "--name", "gemm")} == {str(fleets.STRAGGLER)}


def test_ranks_and_devices_are_those_of_the_merged_file(build, ask, merged):
    sql = "SELECT rank, sum(calls) AS calls, sum(errors) AS errors FROM threads GROUP BY rank"
    answer = run(build, merged / "train.db", "sql", sql, "-f", "csv", "--limit", "0")
    assert counted(csv.DictReader(io.StringIO(answer.stdout)), ["rank", "calls", "errors"]) == counted(
        ask("ranks"), ["rank", "calls", "errors"]
    )
    columns = [
        "ordinal",
        "name",
        "arch",
        "multiprocessors",
        "compute_units",
        "warp_size",
        "memory_bytes",
        "pci",
        "node",
        "driver_arch",
    ]
    assert counted(ask("devices"), columns) == counted(rows_of(build, merged / "train.db", "devices"), columns)


def test_steps_without_collectives_are_those_of_ranks(build, ask, merged):
    """By duration the slowest rank and the one in the middle are those of the report ranks."""
    columns = [
        "step",
        "name",
        "ranks",
        "rank",
        "pid",
        "duration_ns",
        "usual_rank",
        "usual_ns",
        "more_ns",
        "category",
        "category_ns",
    ]
    assert counted(ask("stragglers", job="untimed"), columns) == counted(
        rows_of(build, merged / "untimed.db", "ranks"), columns
    )


def values_of(answer):
    """By section and item; texts as sets, because their order is that of sessions or the alphabet."""
    assert answer.returncode == 0, answer.stderr
    out = {}
    for row in csv.DictReader(io.StringIO(answer.stdout)):
        sides = [number(row[side]) if row["unit"] else set(row[side].split("; ")) for side in ("before", "after")]
        rest = [number(row[name]) for name in ("change", "runs_before", "runs_after", "noise")]
        out[row["section"], row["item"]] = (row["unit"], *sides, *rest)
    return out


def test_two_jobs_differ_as_their_merged_files_do(build, url, merged):
    form = ["-f", "csv", "--limit", "0"]
    here = values_of(run(build, "diff", merged / "train.db", merged / "untimed.db", *form))
    there = values_of(run(build, "--on", url, "diff", "train", "untimed", *form))
    apart = {"told properties"}  # by the words of the report devices
    assert {key: value for key, value in there.items() if key[0] not in apart} == {
        key: value for key, value in here.items() if key[0] not in apart
    }
    assert {"run", "steps", "time in functions", "errors", "libraries", "GPU time", "fade"} <= {key[0] for key in here}
    assert there["told properties", "device 0 clock"][1:3] == ({"1900", "2100"}, {"2100"})
    page = run(build, "--on", url, "diff", "train", "untimed", "-f", "table").stdout
    assert f"before: job train ({fleets.RANKS} recordings)" in page and "after: job untimed (4 recordings)" in page


def test_work_of_gpus_and_collective_operations_have_all_rows(engines, url, files):
    """In the tables as in the files: the late rank and the difference of clocks rest on them."""
    ask = engines[0].ask
    names = "id, name, start, duration"
    there = collections.Counter(map(tuple, ask(f"SELECT rank, {names} FROM gpu_work WHERE job = 'train'", "fade")))
    operations = collections.defaultdict(list)
    columns = "rank, communicator, nth, step, name, gpu_start, gpu_end"
    for rank, *row in ask(f"SELECT {columns} FROM collective_calls WHERE job = 'train' ORDER BY rank, nth", "fade"):
        operations[rank].append(row)
    steps = ask("SELECT rank, idx, met_ns FROM rank_steps WHERE job = 'train'", "fade")
    met = {(rank, step): ns for rank, step, ns in steps}
    here = collections.Counter()
    for rank, path in enumerate(files["train"]):
        with contextlib.closing(sqlite3.connect(path)) as file:
            rows = file.execute(f"SELECT {names} FROM gpu_work ORDER BY start").fetchall()
        here.update((str(rank), *map(str, row)) for row in rows)
        reductions = [(start, start + duration) for _, name, start, duration in rows if "AllReduce" in name]
        assert operations[str(rank)] == [
            ["1", str(n), str(n), "ncclAllReduce", str(first), str(last)]
            for n, (first, last) in enumerate(reductions, 1)
        ]
        for step, (first, last) in enumerate(reductions, 1):
            assert met[str(rank), str(step)] == str(last - first)
    assert there == here and sum(here.values()) == 2 * fleets.STEPS * fleets.RANKS
    assert ask("SELECT count() FROM rank_steps WHERE job = 'untimed' AND met_ns IS NOT NULL", "fade") == [["0"]]


# ---------------------------------------------------------------- filters and forms
def test_filters(ask):
    assert {row["rank"] for row in ask("verdict", "--rank", "9")} == {"9"}
    assert {row["host"] for row in ask("devices", "--host", "node3")} == {"node3"}
    assert {row["name"] for row in ask("top", "--name", "^hipMalloc$")} == {"hipMalloc"}
    by_host = ask("top", "--name", "^hipMalloc$", "--by", "host")
    of_each = str(fleets.PER_HOST)
    assert sorted((row["host"], row["calls"]) for row in by_host) == [(f"node{i}", of_each) for i in range(8)]
    by_device = ask("kernels", "--name", "gemm", "--by", "device")
    runs = sorted((row["device"], row["gpu_runs"]) for row in by_device)
    assert runs == [(str(i), "96") for i in range(fleets.PER_HOST)]
    assert len(ask("steps", "--where", f"duration_ns > 300000000 AND rank = {fleets.STRAGGLER}")) == 9
    assert ask("top", "--name", "o'clock\\\\'") == []  # a text stays a text


def test_formats(build, url):
    table = run(build, "--on", url, "stragglers", "--job", "train", "-f", "table", COLUMNS="120")
    assert table.returncode == 0 and "120 ms" in table.stdout and "GPU" in table.stdout
    rows = json.loads(run(build, "--on", url, "-f", "json").stdout)
    assert {row["job"]: row["ranks"] for row in rows} == {"train": fleets.RANKS, "untimed": SMALL}
    assert run(build, "--on", url, "jobs", "-f", "markdown", "--columns", "job,ranks").stdout.startswith("| job")
    assert (
        "more rows"
        in run(build, "--on", url, "steps", "-f", "table").stderr
        + run(build, "--on", url, "steps", "-f", "table").stdout
    )
    assert "FROM steps" in run(build, "--on", "http://nowhere.invalid", "steps", "--sql").stdout
    assert "'a\\'b'" in run(build, "--on", "http://nowhere.invalid", "diff", "a'b", "c", "--sql").stdout


# ---------------------------------------------------------------- errors
@pytest.mark.parametrize(
    "words, status, told",
    [
        (["topp"], 2, "did you mean"),
        (["waits"], 2, "there is no report 'waits' over a server"),
        (["top", "run.db"], 2, "cannot understand 'run.db'"),
        (["top", "--by", "device"], 2, "report top has no --by device"),
        (["jobs", "--tid", "1"], 2, "has no --tid"),
        (["top", "--sort", "colour"], 2, "no column 'colour'"),
        (["top", "--job", "trian"], 2, "there is no job 'trian'"),
        (["top", "--where", "colour = 1"], 1, "--where"),
        (["diff", "train"], 2, "diff compares two jobs"),
        (["diff", "train", "untimed", "third"], 2, "diff compares two jobs"),
        (["diff", "train", "untimed", "--host", "node1"], 2, "diff of two jobs has no --host"),
        (["diff", "train", "train"], 2, "both jobs are train"),
        (["diff", "train", "untimd"], 2, "did you mean 'untimed'"),
    ],
)
def test_wrong_words(build, url, words, status, told):
    answer = run(build, "--on", url, *words)
    assert answer.returncode == status and told in answer.stderr, answer.stderr
    assert answer.stdout == ""


def test_wrong_servers(build, servers):
    url = servers[1].url
    refused = run(build, "--on", f"http://127.0.0.1:{clickhouse.free_port()}", "jobs")
    assert refused.returncode == 1 and "connect" in refused.stderr and "fix:" in refused.stderr
    password = run(build, "--on", url, "jobs", CLICKHOUSE_PASSWORD="wrong")
    assert password.returncode == 1 and "password" in password.stderr
    nothing = run(build, "--on", url + "/?database=other", "jobs")
    assert nothing.returncode == 1 and "--init" in nothing.stderr
    written = run(build, "--on", "http://ada:secret@127.0.0.1:1", "jobs")
    assert written.returncode == 2 and "secret" not in written.stderr


def test_an_empty_and_a_newer_server(build, servers):
    empty = servers[0].url + "/?database=empty"
    assert run(build, "push", empty, "--init").returncode == 0
    answer = run(build, "--on", empty, "jobs", "-f", "table")
    assert answer.returncode == 0 and "no recording was sent" in answer.stdout + answer.stderr
    servers[0].ask("INSERT INTO fade_schema SELECT 99, '', now()", database="empty")
    newer = run(build, "--on", empty, "jobs")
    assert newer.returncode == 1 and "newer fade" in newer.stderr


# ---------------------------------------------------------------- the dashboard
def test_no_join_depends_on_the_age_of_the_server():
    """ANY INNER JOIN keeps all rows of the left side on 18.16, and one of each key on a current server."""
    files = [BOARD, *(BOARD.parents[1] / "schema/clickhouse").rglob("*.sql")]
    assert len(files) > 20
    assert not [file.name for file in files if "ANY INNER" in file.read_text()]


def queries_of(board):
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["rawSql"]


def filled(sql):
    """What Grafana's ClickHouse plug-in makes of its macros, for all jobs and times."""
    return (
        sql.replace("${job:singlequote}", "'train'")
        .replace("$__fromTime", "toDateTime(0)")
        .replace("$__toTime", "toDateTime(2000000000)")
    )


def test_each_query_of_the_dashboard_has_rows(engines, url):
    board = json.loads(BOARD.read_text())
    titles = [title for title, sql in queries_of(board)]
    assert len(titles) >= 6 and len(set(titles)) == len(titles)
    for title, sql in queries_of(board):
        assert "$" not in filled(sql), title
        assert engines[0].ask(filled(sql), database="fade"), title
    variables = {one["name"]: one for one in board["templating"]["list"]}
    assert ["train"] in engines[0].ask(variables["job"]["query"], database="fade")
