"""Kernel names on every way to launch: what fade reports equals what the runtime counted, by name, grid and block."""
import collections
import subprocess

import pytest

import harness

EVERYWHERE = ("plain per_thread cooperative cooperative_spt extended by_pointer listed by_symbol module work_items "
              "module_cooperative module_listed reloaded graph capture")
PATHS = {"v5": EVERYWHERE.replace("work_items ", "").replace("by_symbol ", ""), "v6": EVERYWHERE + " any_node",
         "v7": EVERYWHERE + " any_node config driver_config library"}
SINGLE = [("v7", path) for path in PATHS["v7"].split()]
ALL = [(runtime, paths) for runtime, paths in PATHS.items()] + [("hard", PATHS["v6"]), ("stripped", PATHS["v7"])]


def ran(folder):
    """name, grid and block -> how often, as the runtime counted."""
    counts = collections.Counter()
    for line in (folder / "kernels.txt").read_text().splitlines():
        name, *numbers = line.split()
        counts[(name, *map(int, numbers[:-1]))] += int(numbers[-1])
    return dict(counts)


def reported(database):
    rows = database.rows(
        "SELECT mangled, grid_x, grid_y, grid_z, block_x, block_y, block_z, sum(launches - errors) FROM kernel_runs "
        "GROUP BY 1, 2, 3, 4, 5, 6, 7")
    return {tuple(row[:-1]): row[-1] for row in rows if row[-1]}


def record(build, folder, line, runtime="v7", options=()):
    watched = harness.run_supervised(build, line, runtime, folder, options,
                                     FADE_STANDIN_KERNELS=str(folder / "kernels.txt"))
    assert watched.status == 0, watched.stderr
    return harness.Database(folder / "run.db")


@pytest.mark.parametrize("runtime, paths", SINGLE + ALL)
def test_every_launch_has_its_name_and_is_counted_once(build, tmp_path, runtime, paths):
    database = record(build, tmp_path, f"launches 2 {paths}", runtime)
    assert reported(database) == ran(tmp_path)
    assert database.rows("SELECT name FROM kernel_runs WHERE name GLOB '0x*'") == []


def test_names_are_the_same_when_registration_is_watched(build, tmp_path):
    database = record(build, tmp_path, f"launches 1 {PATHS['v7']}", "v7", ("-e", harness.EVERYTHING))
    assert reported(database) == ran(tmp_path)


def test_long_names_are_whole_and_what_is_cut_says_so(build, tmp_path):
    database = record(build, tmp_path, "launches 2 long_names")
    cut = "x" * 4096
    expected = {(name if len(name) <= 4096 else cut + "...", *shape): runs
                for (name, *shape), runs in ran(tmp_path).items()}
    assert reported(database) == expected and sorted(len(name) for name, *_ in expected) == [300, 300, 700, 4095, 4099]


def test_names_through_zluda_are_counted_once(build, tmp_path):
    database = record(build, tmp_path, "cuda work 5", "zluda")
    assert reported(database) == ran(tmp_path) and ran(tmp_path)
    assert database.value("SELECT count(*) FROM launches WHERE function LIKE 'cu%'") == 0


def test_what_is_captured_does_not_run(build, tmp_path):
    database = record(build, tmp_path, "launches 1 capture")
    assert dict(database.rows("SELECT mangled, sum(captured) FROM launches GROUP BY 1")) == {
        "k_captured": 1, "captured_function": 1, "k_forked": 1, "k_plain": 0}
    # three kernels, five times a graph of three
    assert database.value("SELECT sum(launches) FROM process_use") == 3 + 5 * 3
    assert database.rows("SELECT kernels, launches, complete FROM graphs ORDER BY id") == [(3, 4, 1), (3, 1, 1)]
    assert database.rows("SELECT n, runs FROM graph_kernels WHERE graph_id = 1") == [(1, 4)] * 3
    assert database.value("SELECT count(*) FROM graph_launches") == 5


def test_launches_of_unknown_graphs_are_told_apart(build, tmp_path):
    """A launch of a graph whose creation was not recorded is no launch of a kernel."""
    record(build, tmp_path, "launches 1 plain capture", options=("--include", "^hip(GraphLaunch|LaunchKernel)$"))
    summary = subprocess.run([build.fade_query, tmp_path / "run.db", "summary", "-f", "table"],
                             capture_output=True, text=True, timeout=120).stdout
    assert "5 launches of graphs whose creation was not recorded: their kernels are not known" in summary, summary
    assert "in graphs" not in summary


def test_a_changed_graph_is_another_graph(build, tmp_path):
    database = record(build, tmp_path, "launches 1 graph")
    assert database.rows("SELECT kernels, launches, complete FROM graphs ORDER BY id") == [
        (4, 3, 1), (4, 1, 1), (3, 1, 1), (4, 1, 1), (3, 1, 1)]


def test_a_multi_device_call_has_a_row_for_each_kernel(build, tmp_path):
    database = record(build, tmp_path, "launches 1 module_listed")
    assert database.rows("SELECT nth, name, more FROM launches ORDER BY nth") == [(0, "list_a", 2),
                                                                                  (1, "list_b", 2), (2, "list_a", 2)]
    listing = harness.run([build.fade_query, tmp_path / "run.db", "launches", "--format", "tsv"],
                          build.environment("v7"), tmp_path)
    assert b"list_a and 2 more" in listing.stdout


def test_default_streams_are_told_apart(build, tmp_path):
    database = record(build, tmp_path, "launches 1 plain per_thread listed")
    kinds = dict(database.rows("SELECT kind, count(*) FROM streams GROUP BY 1"))
    assert kinds == {"default": 1, "per-thread default": 1, "created": 2}
    assert database.rows("SELECT tid = (SELECT min(tid) FROM threads) FROM streams WHERE kind LIKE 'per%'") == [(1,)]


@pytest.mark.parametrize("report", ["kernels", "launches", "graphs", "streams", "code"])
def test_reports_are_printed(build, tmp_path, report):
    record(build, tmp_path, "launches 1 plain graph capture module")
    listing = harness.run([build.fade_query, tmp_path / "run.db", report], build.environment("v7"), tmp_path)
    assert listing.status == 0, listing.stderr
