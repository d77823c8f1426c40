"""fade-query page: the data of the file against SQL, and the file in a real browser."""
import json
import os
import re
import signal
import sqlite3
import subprocess
import time

import pytest

import browser
import harness
from queries import ENVIRONMENT

SECTIONS = ["verdict", "run", "timeline", "time", "flame", "memory", "steps", "flow", "devices", "findings", "libraries", "errors", "cost"]
PARTS = {"verdict", "run", "timeline", "flame", "memory", "steps", "flow", "devices", "findings", "cost"}
LARGEST = 5_000_000
HOSTILE = ["</script><script>document.title='owned'</script>", "<img src=x onerror=alert(1)>", "a" * 10_000, "\x1b[31mred\x07", "\u202egnp.exe", "]]>&amp;<!--"]


def ask(build, path, *words, folder=None):
    return subprocess.run([build.fade_query, path, *words], cwd=folder or path.parent, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)


def page_of(build, path, *options):
    """The file, which is written anew."""
    file = path.with_suffix(".html")
    done = ask(build, path, "page", "-o", file, "--force", *options)
    assert done.returncode == 0, done.stderr
    assert file.stat().st_size < LARGEST and file.stat().st_mode & 0o777 == 0o600
    return file


def data_of(file):
    text = file.read_text()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


@pytest.fixture(scope="module")
def record(build, tmp_path_factory):
    def run(line, *options, runtime="v6", program=None, name="run.db"):
        folder = tmp_path_factory.mktemp("page")
        command = program or build.command(line)
        harness.run([build.fade_run, "-q", *options, "-o", folder / name, "--", *command], build.environment(runtime), folder)
        return folder / name
    return run


@pytest.fixture(scope="module")
def train(build, record):
    return record("", "-k", "all", program=["/usr/bin/python3", build.demo / "train.py"])


@pytest.fixture(scope="module")
def demo(build, record):
    return record("", "--set", "device.0.multiProcessorCount=72", program=[build.demo / "fade-demo"])


def rows_of(data, table):
    wanted = data["tables"][table]
    return [dict(zip([c["name"] for c in wanted["columns"]], row)) for row in wanted["rows"]]


def test_the_numbers_are_those_of_sql(build, train):
    data, database = data_of(page_of(build, train)), harness.Database(train)
    assert set(data["parts"]) == PARTS and not [name for name, part in data["parts"].items() if "error" in part]
    assert not [name for name, table in data["tables"].items() if "error" in table]
    told = {row["name"]: (row["calls"], row["errors"]) for row in rows_of(data, "top")}
    assert told == {name: (calls, errors) for name, calls, errors in database.rows("SELECT name, calls, errors FROM top")}
    calls = database.value("SELECT count(*) FROM calls")
    assert sum(column[1] for column in data["parts"]["timeline"]["calls"]) == calls  # it has no ranges, which do not count there
    assert sum(edge["calls"] for edge in data["parts"]["flow"]["edges"]) == calls
    assert sum(amount for _, amount in data["parts"]["flame"]["weights"][1]["own"]) == calls
    peak = database.value("SELECT max(peak) FROM memory_totals WHERE memory = 'device'")
    assert max(series["peak"] for series in data["parts"]["memory"]["series"]) == peak


def test_the_columns_of_time_add_up_to_the_seconds(build, record):
    path = record("", "--detail", "stats", program=["/usr/bin/python3", build.demo / "train.py"])
    data, database = data_of(page_of(build, path)), harness.Database(path)
    timeline = data["parts"]["timeline"]
    assert timeline["width"] % 1_000_000_000 == 0
    assert sum(column[1] for column in timeline["calls"]) == database.value("SELECT sum(calls) FROM process_use")


def test_devices_tell_what_was_overwritten(build, demo):
    lines = data_of(page_of(build, demo))["parts"]["devices"]
    assert any("RX 6800 XT" in line for line in lines["lines"])
    assert any("before fade overwrote it" in text for text in lines["remarks"])


def test_an_empty_recording_says_so(build, record):
    data = data_of(page_of(build, record("", program=["/bin/true"])))
    assert data["parts"]["timeline"]["notes"] and data["parts"]["memory"]["nothing"] and data["parts"]["steps"]["nothing"]
    assert all(weight["nothing"] for weight in data["parts"]["flame"]["weights"])
    assert [name for name, table in data["tables"].items() if not table["rows"] and not table["nothing"]] == ["step_summary"]  # a part of steps


def test_what_was_not_watched_is_told(build, record):
    data = data_of(page_of(build, record("memory", "-e", "hipGetDeviceCount")))
    assert "not all were watched" in data["parts"]["memory"]["nothing"]
    assert data["parts"]["verdict"]["doubts"] and data["parts"]["cost"]["remarks"]


def test_stacks_that_were_not_taken_are_told(build, record):
    weights = data_of(page_of(build, record("calls", "--stacks", "off")))["parts"]["flame"]["weights"]
    assert weights[0]["nothing"].startswith("no call has a stack")


def test_hostile_names_stay_text(build, record):
    path = record("calls", "-k", "all")
    database = sqlite3.connect(path)
    for place, text in enumerate(HOSTILE):
        database.execute("UPDATE function_ SET name = ? WHERE id = (SELECT id FROM function_ JOIN call_stat_ ON fn = id GROUP BY id LIMIT 1 OFFSET ?)", (text, place))
    database.execute("UPDATE session_ SET command = ?, host = ?", (HOSTILE[0], HOSTILE[4]))
    database.commit()
    database.close()
    file = page_of(build, path)
    text = file.read_text()
    assert text.count("</script>") == 2 and "<img" not in text and "\x1b" not in text and "\u202e" not in text
    names = [row["name"] for row in rows_of(data_of(file), "top")]
    assert "<img src=x onerror=alert(1)>" in names and "\\x1b[31mred\\x07" in names
    assert max(map(len, names)) <= 1000
    if browser.PROGRAM:
        with browser.Browser(path.parent / "profile") as page:
            page.open(file.as_uri(), "document.getElementById('made')?.textContent")
            assert page.errors == [] and "owned" not in page.value("document.title")
            assert page.value("document.querySelectorAll('img').length") == 0
            assert HOSTILE[1] in page.value("document.body.innerText")


def assert_time_has_its_calls(data):
    shown = data["parts"]["timeline"]
    assert shown["to"] > 10**6 and shown["calls"] and all(start < shown["to"] for start, *_ in shown["calls"])


def test_a_recording_under_way_and_a_killed_fade(build, tmp_path):
    path = tmp_path / "live.db"
    fade = subprocess.Popen([build.fade_run, "-q", "-o", path, "--", *build.command("loop 200000")], env=build.environment("v6"), cwd=tmp_path,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    pids = []
    try:
        deadline = time.monotonic() + 60
        while ask(build, path, "sql", "SELECT count(*) > 0 FROM call_stats", "--no-header", "-f", "tsv", folder=tmp_path).stdout.strip() != "1":
            assert time.monotonic() < deadline
            time.sleep(0.2)
        data = data_of(page_of(build, path))
        assert any("still being recorded" in text or "not closed cleanly" in text for text in data["parts"]["run"]["remarks"])
        assert_time_has_its_calls(data)
        pids = harness.descendants(fade.pid)
    finally:
        fade.send_signal(signal.SIGKILL)
        fade.wait()
        for pid in pids[1:]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    data = data_of(page_of(build, path))
    assert data["parts"]["run"]["remarks"]
    assert_time_has_its_calls(data)


def test_several_sessions_and_processes(build, record, tmp_path):
    path = record("fork")
    harness.run([build.fade_run, "-q", "--append", "-o", path, "--", *build.command("calls")], build.environment("v6"), tmp_path)
    newest, first = data_of(page_of(build, path)), data_of(page_of(build, path, "--session", "1"))
    assert any("session 2 of 2" in text for text in newest["parts"]["run"]["remarks"])
    assert len(rows_of(first, "processes")) == harness.Database(path).value("SELECT count(*) FROM processes WHERE session = 1") > 1
    assert ask(build, path, "page", "-o", "-", "--session", "all").returncode == 2


def test_what_page_refuses(build, demo):
    for words in (["--pid", "1"], ["-f", "json"], ["--limit", "3"]):
        assert ask(build, demo, "page", *words, "-o", "/dev/null").returncode == 2, words
    file = page_of(build, demo)
    assert "it exists" in ask(build, demo, "page", "-o", file).stderr
    assert ask(build, demo, "page", "-o", "-").stdout.startswith("<!doctype html>")


def test_the_default_file_stands_here(build, demo, tmp_path):
    assert ask(build, demo, "page", folder=tmp_path).returncode == 0
    assert data_of(tmp_path / "run.html")["title"] == "run.db"


@pytest.fixture(scope="module")
def shown(build, train, tmp_path_factory):
    if not browser.PROGRAM:
        pytest.skip(browser.NEEDS_BROWSER)
    with browser.Browser(tmp_path_factory.mktemp("profile")) as page:
        page.open(page_of(build, train).as_uri(), "document.getElementById('made')?.textContent")
        yield page


def test_the_browser_shows_every_section(shown, train):
    assert shown.errors == []
    assert shown.value("[...document.querySelectorAll('main section')].map(s => s.id)") == SECTIONS
    assert shown.value("[...document.querySelectorAll('main section')].filter(s => s.innerText.trim().split('\\n').length < 2).length") == 0
    assert all(address.startswith(("file:", "data:")) for address in shown.requests)
    text = shown.value("document.getElementById('time').innerText")
    assert f"\t{harness.Database(train).value('SELECT calls FROM top ORDER BY total_ns DESC LIMIT 1'):,}\t" in text


def test_numbers_are_those_of_the_terminal(shown, build, train):
    lines = ask(build, train, "top", "-f", "table", "--columns", "name,calls,total_ns,percent", "--limit", "5").stdout.splitlines()[1:6]
    text = " ".join(shown.value("document.getElementById('time').innerText").split())
    for line in lines:
        name, *numbers = re.split(r"\s{2,}| [▏▎▍▌▋▊▉█]+", line.strip())
        for number in numbers:
            assert number in text, (name, number)


def test_tables_sort_and_filter(shown):
    table = "document.querySelector('[data-table=top]')"
    names = f"[...{table}.querySelectorAll('tbody tr')].map(r => r.cells[0].textContent)"
    shown.value(f"{table}.querySelector('th button').click()")
    assert shown.value(names) == sorted(shown.value(names), key=str.lower)
    shown.value(f"(() => {{ const f = {table}.querySelector('input'); f.value = 'memcpy'; f.dispatchEvent(new Event('input')); }})()")
    assert shown.value(names) and all("memcpy" in name.lower() for name in shown.value(names))


def test_the_timeline_zooms_by_keys(shown):
    axis = "[...document.querySelectorAll('.timeline svg text')].map(t => t.textContent).join()"
    before = shown.value(axis)
    shown.value("document.querySelector('.timeline').focus()")
    shown.key("+")
    assert shown.value(axis) != before
    shown.key("0")
    assert shown.value(axis) == before


def test_the_flame_graph_searches_and_zooms(shown):
    shown.value("(() => { const f = document.querySelector('[data-part=flame] input'); f.value = 'train.py'; f.dispatchEvent(new Event('input')); })()")
    assert shown.value("document.querySelectorAll('.flame .found').length") > 0
    assert "found:" in shown.value("document.querySelector('[data-part=flame]').innerText")
    shown.value("[...document.querySelectorAll('.flame .found')].pop().click()")
    assert shown.value("document.querySelectorAll('.flame .faded').length") > 0
    assert shown.errors == []
