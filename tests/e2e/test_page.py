"""fade-query page: the data of the file against SQL, and the file in a real browser."""
import contextlib
import json
import re
import shutil
import sqlite3
import subprocess

import pytest

import browser
import harness
from page_recordings import HOSTILE, chromium, record, train, under_way, with_hostile_names, worked  # noqa: F401
from queries import ENVIRONMENT

SECTIONS = [
    "verdict",
    "run",
    "timeline",
    "time",
    "flame",
    "memory",
    "steps",
    "flow",
    "devices",
    "findings",
    "libraries",
    "errors",
    "cost",
]
PARTS = {"verdict", "run", "timeline", "flame", "memory", "steps", "flow", "devices", "findings", "cost"}
LARGEST = 5_000_000
ALL_ROWS = "document.querySelectorAll('[aria-pressed=false]').forEach(b => b.textContent === 'all rows' && b.click())"


def ask(build, path, *words, folder=None):
    return subprocess.run(
        [build.fade_query, path, *words],
        cwd=folder or path.parent,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=120,
    )


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
    assert told == {
        name: (calls, errors) for name, calls, errors in database.rows("SELECT name, calls, errors FROM top")
    }
    calls = database.value("SELECT count(*) FROM calls")
    assert (
        sum(column[1] for column in data["parts"]["timeline"]["calls"]) == calls
    )  # it has no ranges, which do not count there
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


def test_the_flame_graph_of_memory_is_that_of_the_terminal(build, record):
    """The page reads all of it in one statement of its own."""
    path = record("memory", "-k", "all")
    data = data_of(page_of(build, path))["parts"]["flame"]
    weights = {weight["id"]: weight for weight in data["weights"]}
    for weight in ("peak", "leaks"):
        rows = ask(build, path, "flame", "--weight", weight, "-f", "json", "--limit", "0")
        told = sorted((row["frames"], row["size_bytes"]) for row in json.loads(rows.stdout) if row["size_bytes"])
        shown = [(";".join(data["frames"][i] for i in data["stacks"][stack]), n) for stack, n in weights[weight]["all"]]
        assert sorted(shown) == told and told


def test_busy_columns_of_a_gpu_add_up_to_its_busy_time(build, worked):
    (busy,) = data_of(page_of(build, worked))["parts"]["timeline"]["busy"]
    told = harness.Database(worked).value("SELECT sum(busy_ns) FROM gpu_busy")
    assert sum(share for _, share in busy["points"]) / 100 * busy["width"] == pytest.approx(told)
    assert busy["device"] == 0 and max(share for _, share in busy["points"]) <= 100


def test_a_long_recording_has_busy_seconds(build, worked, tmp_path):
    path = tmp_path / "long.db"
    shutil.copy(worked, path)
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE gpu_busy_ SET busy = busy + 500000000, sec = sec + 1800 WHERE sec = 0")
        database.execute("UPDATE process_ SET ts_end = ts_end + 3600000000000")
    (busy,) = data_of(page_of(build, path))["parts"]["timeline"]["busy"]
    told = harness.Database(path).value("SELECT sum(busy_ns) FROM gpu_busy_seconds")
    assert busy["width"] % 1_000_000_000 == 0
    assert sum(share for _, share in busy["points"]) / 100 * busy["width"] == pytest.approx(told)


def test_devices_tell_what_was_overwritten(build, demo):
    lines = data_of(page_of(build, demo))["parts"]["devices"]
    assert any("RX 6800 XT" in line for line in lines["lines"])
    assert any("before fade overwrote it" in text for text in lines["remarks"])


def test_an_empty_recording_says_so(build, record):
    data = data_of(page_of(build, record("", program=["/bin/true"])))
    assert (
        data["parts"]["timeline"]["notes"] and data["parts"]["memory"]["nothing"] and data["parts"]["steps"]["nothing"]
    )
    assert all(weight["nothing"] for weight in data["parts"]["flame"]["weights"])
    assert [name for name, table in data["tables"].items() if not table["rows"] and not table["nothing"]] == [
        "step_summary"
    ]  # a part of steps


def test_what_was_not_watched_is_told(build, record):
    data = data_of(page_of(build, record("memory", "-e", "hipGetDeviceCount")))
    assert "not all were watched" in data["parts"]["memory"]["nothing"]
    assert data["parts"]["verdict"]["doubts"] and data["parts"]["cost"]["remarks"]


def test_stacks_that_were_not_taken_are_told(build, record):
    weights = data_of(page_of(build, record("calls", "--stacks", "off")))["parts"]["flame"]["weights"]
    assert weights[0]["nothing"].startswith("no call has a stack")


def test_hostile_names_stay_text(build, record, tmp_path):
    file = page_of(build, with_hostile_names(record("calls", "-k", "all"), tmp_path))
    text = file.read_text()
    assert text.count("</script>") == 2 and "<img" not in text and "\x1b" not in text and "\u202e" not in text
    names = [row["name"] for row in rows_of(data_of(file), "top")]
    assert "<img src=x onerror=alert(1)>" in names and "\\x1b[31mred\\x07" in names
    assert max(map(len, names)) <= 1000
    if browser.PROGRAM:
        with browser.Browser(tmp_path / "profile") as page:
            page.open(file.as_uri(), "document.getElementById('made')?.textContent")
            assert page.errors == [] and "owned" not in page.value("document.title")
            assert page.value("document.querySelectorAll('img').length") == 0
            page.value(ALL_ROWS)  # which of the names is among the first twelve depends on times
            assert HOSTILE[1] in page.value("document.body.innerText")


def assert_time_has_its_calls(data):
    shown = data["parts"]["timeline"]
    assert shown["to"] > 10**6 and shown["calls"] and all(start < shown["to"] for start, *_ in shown["calls"])


def test_a_recording_under_way_and_a_killed_fade(build, tmp_path):
    with under_way(build, tmp_path) as (path, kill):
        data = data_of(page_of(build, path))
        assert any("still being recorded" in text for text in data["parts"]["run"]["remarks"])
        assert_time_has_its_calls(data)
        kill()
        data = data_of(page_of(build, path))
        assert any("not closed cleanly" in text for text in data["parts"]["run"]["remarks"])
        assert_time_has_its_calls(data)


def test_several_sessions_and_processes(build, record, tmp_path):
    path = record("fork")
    harness.run(
        [build.fade_run, "-q", "--append", "-o", path, "--", *build.command("calls")], build.environment("v6"), tmp_path
    )
    newest, first = data_of(page_of(build, path)), data_of(page_of(build, path, "--session", "1"))
    assert any("session 2 of 2" in text for text in newest["parts"]["run"]["remarks"])
    assert (
        len(rows_of(first, "processes"))
        == harness.Database(path).value("SELECT count(*) FROM processes WHERE session = 1")
        > 1
    )
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
def shown(build, train, chromium, tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as page:
        page.open(page_of(build, train).as_uri(), "document.getElementById('made')?.textContent")
        yield page


def test_the_browser_shows_every_section(shown, train):
    assert shown.errors == []
    assert shown.value("[...document.querySelectorAll('main section')].map(s => s.id)") == SECTIONS
    assert (
        shown.value(
            "[...document.querySelectorAll('main section')]"
            ".filter(s => s.innerText.trim().split('\\n').length < 2).length"
        )
        == 0
    )
    assert all(address.startswith(("file:", "data:")) for address in shown.requests)
    assert not shown.value("document.querySelector('[data-table=gemm]')?.checkVisibility()")
    assert shown.value("document.querySelector('[data-table=kernels]').checkVisibility()")
    text = shown.value("document.getElementById('time').innerText")
    assert "export --format perfetto" in shown.value("document.getElementById('timeline').innerText")
    assert f"\t{harness.Database(train).value('SELECT calls FROM top ORDER BY total_ns DESC LIMIT 1'):,}\t" in text


def test_numbers_are_those_of_the_terminal(shown, build, train):
    lines = ask(
        build, train, "top", "-f", "table", "--columns", "name,calls,total_ns,percent", "--limit", "5"
    ).stdout.splitlines()[1:6]
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
    shown.value(
        f"(() => {{ const f = {table}.querySelector('input'); f.value = 'memcpy';"
        " f.dispatchEvent(new Event('input')); })()"
    )
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
    shown.value(
        "(() => { const f = document.querySelector('[data-part=flame] input'); f.value = 'train.py';"
        " f.dispatchEvent(new Event('input')); })()"
    )
    assert shown.value("document.querySelectorAll('.flame .found').length") > 0
    assert "found:" in shown.value("document.querySelector('[data-part=flame]').innerText")
    shown.value("[...document.querySelectorAll('.flame .found')].pop().click()")
    assert shown.value("document.querySelectorAll('.flame .faded').length") > 0
    assert shown.errors == []


def test_the_page_paints_soon(build, train, chromium, tmp_path):
    with chromium(tmp_path / "profile") as page:
        page.open(page_of(build, train).as_uri(), "performance.getEntriesByType('paint').length > 1")
        read = page.value("document.querySelector('[data-table=top] tbody tr') !== null")
        assert read and page.value("performance.getEntriesByType('resource').length") == 0


WIDTH_OF_PAPER = 718  # pixels of A4 between the margins
CONTROLS = "header, .tools, .readout, summary, #call, #sql"
SEEN = f"[...document.querySelectorAll('{CONTROLS}')].filter(n => n.checkVisibility()).map(n => n.outerHTML)"
TOO_WIDE = (
    "[...document.querySelectorAll('main *')].filter(n => n.getBoundingClientRect().right > innerWidth + 1)"
    ".map(n => n.outerHTML.slice(0, 200))"
)
CUT = (
    "[...document.querySelectorAll('td, th, .scroll, .flame')].filter(n => n.scrollWidth > n.clientWidth + 1 "
    "|| n.scrollHeight > n.clientHeight + 1).map(n => n.outerHTML.slice(0, 200))"
)
BRIGHTNESS = "getComputedStyle(document.body).backgroundColor"


def test_the_page_on_paper(build, worked, chromium, tmp_path):
    with chromium(tmp_path / "profile") as page:
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        page.call("Emulation.setEmulatedMedia", media="screen", features=dark)
        page.open(page_of(build, worked).as_uri(), "document.getElementById('made')?.textContent")
        assert page.value(SEEN) and page.value(BRIGHTNESS) != "rgb(255, 255, 255)"
        page.call("Emulation.setEmulatedMedia", media="print", features=dark)
        page.call(
            "Emulation.setDeviceMetricsOverride", width=WIDTH_OF_PAPER, height=1000, deviceScaleFactor=1, mobile=False
        )
        assert page.value(SEEN) == [] and page.value(TOO_WIDE) == [] and page.value(CUT) == []
        assert page.value(BRIGHTNESS) == "rgb(255, 255, 255)"
        text = page.value("document.body.innerText")
        assert "not on this paper" in text and 'below "all rows"' not in text
        assert page.call("Page.printToPDF")["data"] and page.errors == []


def test_the_timeline_shows_how_busy_a_gpu_was(build, worked, chromium, tmp_path):
    with chromium(tmp_path / "profile") as page:
        page.open(page_of(build, worked).as_uri(), "document.getElementById('made')?.textContent")
        names = page.value("[...document.querySelectorAll('.timeline text.name')].map(n => n.lastChild.data)")
        assert "GPU 0 busy" in names and page.errors == []


def test_fade_run_writes_the_page_at_the_end(build, tmp_path):
    def run(*options):
        command = [build.fade_run, "--page", *options, "-o", tmp_path / "run.db", "--", *build.command("calls")]
        return harness.run(command, build.environment("v6"), tmp_path)

    first = run()
    page = tmp_path / "run.html"
    assert first.status == 0 and "run.html" in first.stderr.decode() and page.stat().st_mode & 0o777 == 0o600
    assert rows_of(data_of(page), "top")
    assert run("--append").status == 0
    assert any("session 2 of 2" in text for text in data_of(page)["parts"]["run"]["remarks"])
    (tmp_path / "run.db").unlink()
    page.write_text("mine")
    refused = run()
    assert refused.status == 0 and "cannot write the page" in refused.stderr.decode() and page.read_text() == "mine"
    assert run("--daemon").status != 0 and run("--ab", "device.*.warpSize=64").status != 0
