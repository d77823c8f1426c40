"""fade-query allocators: what PyTorch's allocator holds and gives out is what a stand-in of it counts."""
import json
import subprocess

import pytest

import harness


WAYS = {"caching": 0, "expandable": 1, "plain": 2, "async": 3}
SEGMENTS = ("segments", "segment_bytes", "small_segment_bytes")


def recorded(build, folder, *options, rounds=400, way="caching"):
    variables = build.environment("v6")
    variables["LD_LIBRARY_PATH"] += f":{build.tracees / 'torch'}"
    program = build.command(f"allocators {rounds} {WAYS[way]}")
    command = [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", *program]
    ran = harness.run(command, variables, folder / "run", timeout=120)
    assert ran.status == 0, ran.stderr
    told = dict(line.split(" ", 1) for line in ran.stdout.decode().splitlines())
    report = [build.fade_query, "allocators", folder / "run.db", "-f", "json"]
    rows = json.loads(subprocess.run(report, check=True, capture_output=True, timeout=60).stdout)
    return {row["holder"]: row for row in rows}, {name: int(n) for name, n in told.items()}


@pytest.mark.parametrize("engine", ["breakpoints", "taps", "auto"])
def test_what_is_reserved_and_given_out_is_what_the_allocator_counts(build, tmp_path, engine):
    holders, told = recorded(build, tmp_path, "-e", "all,ops-memory", "--engine", engine)
    torch = holders["PyTorch"]
    assert {name: torch[name] for name in told if name not in SEGMENTS} == {
        name: n for name, n in told.items() if name not in SEGMENTS
    }
    assert torch["told_bytes"] == torch["peak_bytes"] == told["reserved_bytes"]
    assert torch["idle_bytes"] == told["reserved_bytes"] - told["allocated_bytes"] > 0
    assert torch["gaps"] > 1 and torch["basis"] == "told" and torch["segments"] is None
    own = holders["program"]
    assert own["reserved_bytes"] == 12345
    assert [own[name] for name in ("allocated_bytes", "blocks", "basis")] == [None] * 3


def test_without_its_calls_only_what_it_holds_is_known(build, tmp_path):
    holders, told = recorded(build, tmp_path)
    torch = holders["PyTorch"]
    assert torch["reserved_bytes"] == told["reserved_bytes"]
    assert torch["allocated_bytes"] is None and torch["largest_gap_bytes"] is None and torch["idle_bytes"] is None


@pytest.mark.parametrize("way", ["caching", "expandable"])
def test_sizes_tell_the_segments_of_its_allocator(build, tmp_path, way):
    holders, told = recorded(build, tmp_path, way=way)
    torch = holders["PyTorch"]
    assert torch["basis"] == "from sizes"
    assert {name: torch[name] for name in SEGMENTS} == {name: told[name] for name in SEGMENTS}
    assert torch["segment_bytes"] == torch["reserved_bytes"] > torch["small_segment_bytes"] > 0
    assert torch["allocated_bytes"] is None and torch["blocks"] is None
    assert holders["program"]["basis"] is None and holders["program"]["segments"] is None


@pytest.mark.parametrize("way", ["plain", "async"])
def test_other_sizes_are_no_segments(build, tmp_path, way):
    holders, _ = recorded(build, tmp_path, way=way)
    assert holders["PyTorch"]["basis"] == "other sizes"
    assert [holders["PyTorch"][name] for name in SEGMENTS] == [None, None, None]


def test_without_rows_nothing_is_inferred(build, tmp_path):
    holders, told = recorded(build, tmp_path, "--detail", "stats")
    assert holders["PyTorch"]["reserved_bytes"] == told["reserved_bytes"] and holders["PyTorch"]["basis"] is None
