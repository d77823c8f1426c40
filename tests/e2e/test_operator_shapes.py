"""Shapes of operators of PyTorch (--operator-shapes), and ranges of record_function (-e ops-ranges)."""
import json
import subprocess

import pytest

import harness

ROUNDS = 3


def recorded(build, folder, *options, rounds=ROUNDS):
    variables = build.environment("v6")
    variables["LD_LIBRARY_PATH"] += f":{build.tracees / 'torch'}"
    command = [build.fade_run, "-q", *options, "-o", folder / "run.db", "--", *build.command(f"shapes {rounds}")]
    ran = harness.run(command, variables, folder / "run", timeout=120)
    assert ran.status == 0, ran.stderr
    return harness.Database(folder / "run.db")


def report(build, folder, *options):
    command = [build.fade_query, *options, folder / "run.db", "-f", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)


@pytest.fixture(scope="module")
def shaped(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shaped")
    database = recorded(build, folder, "-e", "all,ops", "--operator-shapes", "--detail", "full")
    return folder, database


def test_types_sizes_and_devices_are_those_of_the_tensors(shaped):
    _, database = shaped

    def of(name):
        return [json.loads(text) for (text,) in database.rows(f"SELECT DISTINCT args FROM calls WHERE name = '{name}'")]

    assert of("aten::mm") == [{"self": "f32[64,3]", "mat2": "f32[3,5]"}]
    assert of("aten::cat") == [{"tensors": ["bool[2,3,4,5,6,7]@cuda:2", "f32[]"], "dim": 1}]
    assert of("aten::linear") == [{"input": "f32[64,3]", "weight": "f32[3,5]", "bias": None}]
    (convolution,) = of("aten::convolution")
    # The words behind six registers lie on the stack.
    assert convolution == {
        "input": "f32[64,3]",
        "weight": "f32[3,5]",
        "bias": "f32[]",
        "stride": [1, 2],
        "padding": [1],
        "dilation": [],
        "transposed": True,
        "output_padding": [1, 2],
        "groups": 3,
    }


def test_calls_before_the_layout_is_known_are_counted(shaped):
    _, database = shaped
    notes = [note for (note,) in database.rows("SELECT detail FROM lifecycle WHERE detail LIKE '%layout of tensors%'")]
    assert len(notes) == 2 and "is not known yet" in notes[0]
    assert "sizes at 72, type at 176; 1 calls before have no shapes" in notes[1]
    (before,) = database.rows("SELECT args FROM calls WHERE name = 'aten::_to_copy'")
    assert json.loads(before[0])["self"].startswith("0x")


def test_products_are_added_up_by_shape_with_their_operations(build, shaped):
    folder, _ = shaped
    rows = {(row["name"], row["shapes"]): row for row in report(build, folder, "operators", "--by-shape")}
    product = rows["aten::mm", "self=f32[64,3] mat2=f32[3,5]"]
    assert product["n"] == 2 * ROUNDS and product["flops"] == 2 * 64 * 3 * 5 * product["n"]
    assert rows["aten::cat", 'tensors=["bool[2,3,4,5,6,7]@cuda:2","f32[]"]']["n"] == ROUNDS
    assert rows["aten::linear", "input=f32[64,3] weight=f32[3,5]"]["flops"] is None


def test_packed_arguments_have_their_shapes_too(build, tmp_path):
    database = recorded(build, tmp_path, "-e", "ops", "--operator-shapes", rounds=300)
    assert database.value("SELECT count(*) FROM arg_blocks WHERE name = 'aten::mm'") > 0
    rows = report(build, tmp_path, "operators", "--by-shape", "--name", "aten::mm$")
    assert [(row["shapes"], row["n"]) for row in rows] == [("self=f32[64,3] mat2=f32[3,5]", 2 * 300)]


def test_without_the_option_no_shapes_are_read(build, tmp_path):
    recorded(build, tmp_path, "-e", "ops")
    assert report(build, tmp_path, "operators", "--by-shape") == []


@pytest.mark.parametrize("engine", ["breakpoints", "taps"])
def test_record_function_makes_ranges_and_steps(build, tmp_path, engine):
    database = recorded(build, tmp_path, "-e", "ops,ops-ranges", "--engine", engine)
    ranges = "SELECT name, depth, count(*) FROM ranges WHERE duration IS NOT NULL GROUP BY name, depth ORDER BY 1"
    steps = [(f"ProfilerStep#{i}", 0, 1) for i in range(ROUNDS)]
    assert database.rows(ranges) == [*steps, ("product of this step", 1, ROUNDS)]
    assert database.rows("SELECT name FROM steps ORDER BY id") == [(name,) for name, _, _ in steps]
    assert database.value("SELECT count(*) FROM range_faults") == 0
    inside = """SELECT count(*) FROM calls c JOIN ranges r ON c.start BETWEEN r.start AND r."end"
      WHERE r.name = 'product of this step' AND c.name = 'aten::mm'"""
    assert database.value(inside) == ROUNDS
