"""Starting a program: exit statuses and messages of fade-run itself, set-uid programs, odd paths."""
import os
import pathlib
import pwd
import resource
import shutil
import signal
import stat

import pytest

import harness


def fade(build, folder, *arguments, **environment):
    return harness.run([build.fade_run, *arguments], build.environment("v6", **environment), folder)


def test_missing_program(build, tmp_path):
    ran = fade(build, tmp_path, "-o", "x.db", "--", "/nonexistent/program")
    assert ran.status == 127
    assert b"/nonexistent/program" in ran.stderr and b"No such file" in ran.stderr
    assert not (tmp_path / "x.db").exists()


def test_program_that_is_not_in_the_path(build, tmp_path):
    assert fade(build, tmp_path, "-o", "x.db", "--", "no-such-program-anywhere").status == 127


def test_program_that_is_not_executable(build, tmp_path):
    assert fade(build, tmp_path, "-o", "x.db", "--", "/etc/passwd").status == 126


def test_existing_output_is_not_touched(build, tmp_path):
    (tmp_path / "x.db").write_text("precious")
    ran = fade(build, tmp_path, "-o", "x.db", "--", build.tracees / "loop")
    assert ran.status == 125
    assert (tmp_path / "x.db").read_text() == "precious"
    assert b"x.db" in ran.stderr and ran.counts == {}  # and the program was not started


def limited_files(most):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def test_a_recording_that_cannot_begin_leaves_no_file(build, tmp_path):
    command = [build.fade_run, "-q", "-o", "x.db", "--", "/bin/mkdir", "started"]
    ran = harness.run(command, build.environment("v6"), tmp_path, preexec_fn=limited_files(4096))
    assert ran.status == 125 and b"x.db" in ran.stderr and b"ulimit -f" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_may_not_grow_ends_the_recording_and_not_the_program(build, tmp_path):
    assert fade(build, tmp_path, "-q", "-o", "empty.db", "--", "/bin/true").status == 0
    most = (tmp_path / "empty.db").stat().st_size + 100_000
    command = [build.fade_run, "-q", "-o", "x.db", "--", *build.command("loop 5000")]
    ran = harness.run(command, build.environment("v6"), tmp_path, preexec_fn=limited_files(most))
    assert (ran.status, ran.stdout) == (0, b"done\n") and ran.total["hipMalloc"] == 5000
    assert b"cannot write x.db" in ran.stderr and b"ulimit -f" in ran.stderr and b"the program runs on" in ran.stderr
    # What the program does beyond its limit is its own business.
    command = [build.fade_run, "-q", "-o", "y.db", "--", "/bin/sh", "-c", "head -c 9999999 /dev/zero > big"]
    ran = harness.run(command, build.environment("v6"), tmp_path, preexec_fn=limited_files(most))
    assert ran.status == 128 + signal.SIGXFSZ or ran.status == -signal.SIGXFSZ


def test_unknown_option_is_not_taken_for_the_command(build, tmp_path):
    ran = fade(build, tmp_path, "--ouput", "x.db", "--", "/bin/true")
    assert ran.status == 2 and b"--output" in ran.stderr


def test_nothing_on_stdout(build, tmp_path):
    ran = fade(build, tmp_path, "-v", "-c", "-o", "x.db", "--", build.tracees / "plain")
    assert ran.stdout.startswith(b"plain ") and ran.stdout.count(b"\n") == 1


def test_script_with_interpreter(build, tmp_path):
    script = tmp_path / "script.sh"
    script.write_text(f"#!/bin/sh\n{build.tracees / 'loop'} 4\nexit 21\n")
    script.chmod(0o755)
    ran = fade(build, tmp_path, "-q", "-e", harness.EVERYTHING, "-o", "x.db", "--", script)
    assert (ran.status, ran.stdout) == (21, b"done\n")
    assert not harness.differences(ran.total, harness.summed(harness.Database(tmp_path / "x.db").counts("calls")))


def test_a_script_whose_interpreter_is_missing(build, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    ran = fade(build, tmp_path, "-o", "x.db", "--", script)
    assert ran.status == 127 and b"the interpreter (#!)" in ran.stderr
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize("name", ["loop", "/etc/passwd/x", "x" * 300])
def test_what_is_no_program_for_another_reason_is_126(build, tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    ran = fade(build, tmp_path, "-o", "x.db", "--", name if "/" in name else f"./{name}")
    assert ran.status == 126 and b"cannot run" in ran.stderr


def test_a_database_that_is_taken_away(build, tmp_path):
    line = f"{build.tracees}/loop 5; rm x.db; {build.tracees}/loop 2000"
    ran = fade(build, tmp_path, "-q", "-o", "x.db", "--", "/bin/sh", "-c", line)
    assert (ran.status, ran.stdout) == (0, b"done\ndone\n")
    assert b"the file was removed or renamed meanwhile" in ran.stderr


def test_path_with_spaces_and_unicode(build, tmp_path):
    odd = tmp_path / "größe 内核 (deleted) 'x'\n\"y\""
    odd.mkdir()
    library = odd / "libamdhip64.so.6"
    shutil.copy(build.runtimes / "v6" / "libamdhip64.so.6", library)
    command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", build.tracees / "two_copies", library]
    ran = harness.run(command, build.environment("v6"), tmp_path)
    assert ran.stdout == b"1 libraries, worked 10\n"
    database = harness.Database(tmp_path / "run.db")
    assert database.counts("calls")[next(iter(ran.counts))] == {"hipMalloc": 10}
    # The kernel's list of mappings writes a line break as \\012.
    assert database.value("SELECT path FROM modules WHERE sites > 0").replace("\\012", "\n") == str(library)


def test_many_arguments_and_a_large_environment(build, tmp_path):
    words = [f"word-{i}-" + "x" * 200 for i in range(4000)]
    environment = build.environment("v6", LARGE="y" * 100000)
    alone = harness.run([build.tracees / "environment", *words], environment, tmp_path / "alone")
    command = [build.fade_run, "-q", "-o", tmp_path / "run.db", "--", build.tracees / "environment", *words]
    supervised = harness.run(command, environment, tmp_path / "supervised")
    assert supervised.stdout == alone.stdout and alone.stdout.startswith(b"arguments 4001 ")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a program that belongs to someone else")
def test_set_uid_program_keeps_its_rights(build, tmp_path):
    nobody = pwd.getpwnam("nobody").pw_uid
    program = tmp_path / "identity"
    shutil.copy(build.tracees / "identity", program)
    os.chown(program, nobody, -1)
    program.chmod(0o755 | stat.S_ISUID)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != pathlib.Path(
            "/") and not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    line = f"exec leader {program}"
    alone = harness.run_alone(build, line, "v6", tmp_path)
    supervised = harness.run_supervised(build, line, "v6", tmp_path)
    assert alone.stdout == f"uid 0 euid {nobody} secure 1\n".encode()
    assert (supervised.status, supervised.stdout) == (alone.status, alone.stdout)


@pytest.mark.parametrize("rank, recorded", [("0", False), ("3", True)])
def test_only_the_chosen_ranks_are_recorded(build, tmp_path, rank, recorded):
    ran = fade(build, tmp_path, "-q", "--only-rank", "1,3", "-o", "x.db", "--", build.tracees / "loop", "5", RANK=rank)
    assert ran.status == 0, ran.stderr
    assert (harness.Database(tmp_path / "x.db").value("SELECT count(*) FROM calls") > 0) == recorded
