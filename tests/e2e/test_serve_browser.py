"""fade-query serve: its page in a real browser."""
import contextlib
import time

import pytest

import harness
from page_recordings import (  # noqa: F401
    HOSTILE,
    chromium,
    record,
    train,
    under_way,
    wait_for,
    with_hostile_names,
    worked,
)
from serving import Server, server  # noqa: F401


@pytest.fixture
def shown(build, chromium, tmp_path):
    with contextlib.ExitStack() as stack:

        def show(path):
            server = stack.enter_context(Server(build, path))
            page = stack.enter_context(chromium(tmp_path / "profile"))
            page.call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
            page.open(server.address, "document.getElementById('made')?.textContent")
            page.server = server
            return page

        yield show


def click(page, node):
    x, y = page.value(
        f"(() => {{ const n = {node}; n.scrollIntoView({{block: 'center'}}); "
        "const b = n.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def test_a_click_shows_a_call_with_its_stack(shown, train):
    page = shown(train)
    assert page.value("[...document.querySelectorAll('main section')].map(s => s.id)")[-1] == "sql"
    wait_for(lambda: page.value("document.querySelectorAll('.timeline .call').length"), "calls on the timeline")
    for _ in range(12):  # calls that are drawn as one are zoomed to
        if page.value("document.querySelectorAll('.timeline [data-call][tabindex]').length"):
            break
        drawn = page.value("document.querySelector('.timeline').innerHTML.length")
        click(
            page,
            "[...document.querySelectorAll('.timeline [data-from]')]"
            ".sort((a, b) => b.width.baseVal.value - a.width.baseVal.value)[0]",
        )
        wait_for(lambda: page.value("document.querySelector('.timeline').innerHTML.length") != drawn, "another view")
        time.sleep(0.5)
    call = page.value("document.querySelector('.timeline [data-call][tabindex]').dataset.call")
    click(page, f"document.querySelector('.timeline [data-call=\"{call}\"][tabindex]')")
    text = wait_for(
        lambda: page.value("!document.getElementById('call').hidden && document.getElementById('call').innerText"),
        "the call",
    )
    name, stack = harness.Database(train).rows(f"SELECT name, stack FROM calls WHERE id = {call}")[0]
    assert name in text and "Arguments" in text and (stack is None or "train.py" in text)
    page.key("Escape")
    assert page.value("document.getElementById('call').hidden")
    page.value("document.querySelector('#sql .tools button').click()")
    wait_for(
        lambda: page.value("document.querySelectorAll('#sql tbody tr').length") == 10
        or page.value("document.querySelectorAll('#sql tbody tr').length"),
        "rows",
    )
    page.value(
        "(() => { document.querySelector('#sql textarea').value = 'SELECT nam FROM top'; "
        "document.querySelector('#sql .tools button').click(); })()"
    )
    wait_for(lambda: "no such column: nam" in page.value("document.getElementById('sql').innerText"), "the error")
    assert page.errors == [] and all(address.startswith(page.server.address) for address in page.requests)


def test_a_click_on_work_of_the_gpu_shows_its_call(shown, worked):
    page = shown(worked)
    about = "document.querySelector('#timeline').innerText"
    wait_for(lambda: "works of GPUs in this view" in page.value(about), "works of the GPU")
    start = harness.Database(worked).value("SELECT start FROM gpu_work WHERE kind = 'kernel' ORDER BY id LIMIT 1")
    page.value(
        f"SHOWN.get(document.querySelector('[data-part=timeline]')).timeline.see({start - 2000}, {start + 8000})"
    )
    alone = "[...document.querySelectorAll('.timeline [data-call]')].filter(n => n.dataset.say.includes('on the GPU'))"
    wait_for(lambda: page.value(f"{alone}.length"), "a work alone")
    call = page.value(f"{alone}[0].dataset.call")
    click(page, f"{alone}[0]")
    text = wait_for(
        lambda: page.value("!document.getElementById('call').hidden && document.getElementById('call').innerText"),
        "the call",
    )
    assert harness.Database(worked).value(f"SELECT name FROM calls WHERE id = {call}") in text and page.errors == []


def test_hostile_names_stay_text(shown, train, tmp_path):
    page = shown(with_hostile_names(train, tmp_path))
    wait_for(lambda: page.value("document.querySelectorAll('.timeline .call').length"), "calls")
    page.value(
        "ask('call.json', {id: 5}).then((call) => { const p = new CallPanel(); "
        "p.body.replaceChildren(...p.about(call)); p.node.hidden = false; })"
    )
    assert (
        page.errors == []
        and "owned" not in page.value("document.title")
        and page.value("document.querySelectorAll('img').length") == 0
    )
    assert HOSTILE[1] in page.value("document.body.innerText")


def test_the_page_of_a_live_recording_can_be_paused(build, shown, tmp_path):
    with under_way(build, tmp_path) as (path, _):
        page = shown(path)
        calls = (
            "Number((document.querySelector('[data-table=top] tbody tr td:nth-child(2)')?.textContent || '0')"
            ".replaceAll(',', ''))"
        )
        before = page.value(calls)
        wait_for(lambda: page.value(calls) > before, "a larger number of calls")
        assert "live" in page.value("document.querySelector('header').innerText")
        page.value("[...document.querySelectorAll('header button')].find(b => b.textContent === 'pause').click()")
        assert "paused" in page.value("document.querySelector('header').innerText")
        assert page.errors == []
