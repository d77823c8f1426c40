"""What stays from release to release: the views that fade-query schema documents, with their columns, types and units.

schema/released/views.tsv holds those of the last release. With FADE_UPDATE_GOLDENS=1 new ones are added to it."""
import csv
import io
import subprocess

import transcripts
from queries import ENVIRONMENT, recording  # noqa: F401

RELEASED = transcripts.ROOT / "schema" / "released" / "views.tsv"
HEAD = "view\tcolumn\ttype\tunit"
WAY = (
    "People and their notebooks read it. Keep it in the view beside the new one, and say in schema/docs which one "
    "to use. If it must go: a line in CHANGELOG.md, an entry in DECISIONS.md, one more for kVersion in "
    "schema/schema.hpp, and its line taken out of schema/released/views.tsv"
)


def promised(text):
    """(view, column) -> (type, unit); the column is empty for the view itself."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines[0] == HEAD
    return {tuple(line.split("\t")[:2]): tuple(line.split("\t")[2:]) for line in lines[1:]}


def documented(build, path):
    asked = subprocess.run(
        [build.fade_query, path, "schema", "-f", "csv", "--limit", "0", "--columns", "view,column,type,unit"],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {tuple(row[:2]): tuple(row[2:]) for row in list(csv.reader(io.StringIO(asked.stdout)))[1:]}


def broken_promises(released, now):
    out = []
    for (view, column), (kind, unit) in released.items():
        name = f"column {view}.{column}" if column else f"view {view}"
        if (view, column) not in now:
            if not column or (view, "") in now:
                out.append(f"{name} is gone or renamed. {WAY}")
        elif now[view, column] != (kind, unit):
            was, new = (" in ".join(filter(None, both)) for both in ((kind, unit), now[view, column]))
            out.append(f"{name} was {was} and is {new} now. Give the new one another name. {WAY}")
    return out


def with_new_ones(text, now):
    known = promised(text)
    head = [line for line in text.splitlines() if line.startswith("#")]
    rows = sorted({**now, **known}.items())
    return "\n".join([*head, HEAD, *("\t".join([*key, *value]) for key, value in rows)]) + "\n"


def test_what_was_released_is_still_there(build, recording):  # noqa: F811
    now = documented(build, recording)
    if transcripts.updating():
        RELEASED.write_text(with_new_ones(RELEASED.read_text(), now))
    assert broken_promises(promised(RELEASED.read_text()), now) == []


def test_a_removed_a_renamed_and_a_changed_column_are_told():
    released = {
        ("calls", ""): ("", ""),
        ("calls", "start"): ("integer", "ns"),
        ("calls", "fn"): ("text", ""),
        ("old", ""): ("", ""),
        ("old", "id"): ("integer", ""),
    }
    now = {("calls", ""): ("", ""), ("calls", "start"): ("integer", "us"), ("calls", "name"): ("text", "")}
    told = broken_promises(released, now)
    assert [text.split(" ")[:2] for text in told] == [
        ["column", "calls.start"],
        ["column", "calls.fn"],
        ["view", "old"],
    ]
    assert "was integer in ns and is integer in us" in told[0] and all("CHANGELOG.md" in text for text in told)
    assert broken_promises({("calls", ""): ("", "")}, {**now, ("more", ""): ("", "")}) == []
