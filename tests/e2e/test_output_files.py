"""Files that the programs write, in a folder that other users write to as well: nothing of theirs is followed, opened
or overwritten."""
import os
import subprocess

import pytest

import harness
from queries import ENVIRONMENT

ANOTHER = 65_534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture(scope="module")
def recording(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("output")
    assert harness.run_supervised(build, "loop 2", "v6", folder).status == 0
    return folder / "run.db"


@pytest.fixture
def shared(tmp_path):
    """As /tmp. What it links to must stay as it is."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    (tmp_path / "victim").write_text("old")
    yield folder
    assert (tmp_path / "victim").read_text() == "old"


def plant(shared, kind, name):
    if kind == "link":
        (shared / name).symlink_to(shared.parent / "victim")
    elif kind == "fifo":
        os.mkfifo(shared / name, 0o666)
    else:
        (shared / name).write_text("planted")
        (shared / name).chmod(0o666)
    os.lchown(shared / name, ANOTHER, ANOTHER)


def fade_query(build, *words):
    return subprocess.run([build.fade_query, *words], capture_output=True, text=True, env=ENVIRONMENT, timeout=60)


@needs_root
@pytest.mark.parametrize("kind", ["link", "fifo", "file"])
@pytest.mark.parametrize("words", [["top", "-o"], ["export", "-o"], ["top", "--log"]],
                         ids=["answer", "export", "messages"])
def test_fade_query_refuses_what_another_user_put_there(build, recording, shared, kind, words):
    plant(shared, kind, "out.csv")
    ran = fade_query(build, recording, "--force", *words, shared / "out.csv")
    assert ran.returncode != 0 and "of another user" in ran.stderr
    if kind == "file":
        assert (shared / "out.csv").read_text() == "planted"


@needs_root
@pytest.mark.parametrize("kind", ["link", "fifo", "file"])
@pytest.mark.parametrize("name", ["run.db", "run.db-wal", "run.db-journal"])
def test_fade_run_refuses_what_another_user_put_there(build, shared, kind, name):
    plant(shared, kind, name)
    ran = subprocess.run([build.fade_run, "--force", "-o", shared / "run.db", "--", *build.command("loop 2")],
                         capture_output=True, text=True,
                         env=build.environment("v6"), cwd=shared.parent, timeout=60)
    assert ran.returncode == 125 and "cannot write" in ran.stderr
    assert "of another user" in ran.stderr and "done" not in ran.stdout
    assert os.lstat(shared / name).st_uid == ANOTHER


@needs_root
def test_an_index_is_not_put_where_a_link_of_another_user_leads(build, recording, shared):
    (shared / "link.db").symlink_to(recording)
    os.lchown(shared / "link.db", ANOTHER, ANOTHER)
    ran = fade_query(build, shared / "link.db", "index")
    assert ran.returncode == 1 and "symbolic link of another user" in ran.stderr
    assert harness.Database(recording).value(
        "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name GLOB 'fade_*'") == 0


def test_own_links_lead_to_the_file(build, recording, shared):
    (shared / "mine.csv").symlink_to("real.csv")
    assert fade_query(build, recording, "top", "-o", shared / "mine.csv").returncode == 0
    assert (shared / "mine.csv").is_symlink() and (shared / "real.csv").read_text().startswith("name,api")
    assert "it exists" in fade_query(build, recording, "top", "-o", shared / "mine.csv").stderr


def test_devices_and_standard_output_need_no_force(build, recording):
    said = fade_query(build, recording, "top", "-f", "csv", "-o", "/dev/stdout")
    assert said.returncode == 0 and said.stdout == fade_query(build, recording, "top", "-f", "csv", "-o", "-").stdout
    quiet = fade_query(build, recording, "top", "-o", "/dev/null")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
