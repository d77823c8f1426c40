"""No sentence of a report claims more than was watched: what is stored of that, and what reports say over parts of
programs whose truth is known."""
import subprocess

import pytest

import harness


class Recorded:
    """A recording, and what fade-query says about it."""

    def __init__(self, build, folder):
        self.build, self.folder, self.path = build, folder, folder / "run.db"

    def run(self, words, *options, before=(), **environment):
        command = [self.build.fade_run, "-q", *options, "-o", self.path, "--", *before, *words]
        return harness.run(command, self.build.environment("v6", **environment), self.folder)

    def ask(self, *words):
        command = [self.build.fade_query, self.path, *map(str, words)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60)

    def rows(self, sql):
        return harness.Database(self.path).rows(sql)

    def topic(self, name):
        """complete, level, narrowed, why of the last process."""
        return self.rows(
            f"SELECT complete, level, narrowed, why FROM watched WHERE topic = '{name}' ORDER BY process_id DESC "
            f"LIMIT 1")[0]


@pytest.fixture
def recorded(build, tmp_path):
    return Recorded(build, tmp_path)


@pytest.fixture
def parts(build):
    return lambda words: [build.tracees / "parts", *words.split()]


# ---------------------------------------------------------------- the options, as they were typed
def test_options_are_stored_as_they_were_typed(recorded, parts):
    recorded.run(parts("alloc"), "-e", "mem,copy", "--kernel-include-regex", "a|b",
                 "--delay", "1ms", "--no-follow", "--max-size=1G", "--on-full", "stop",
                 "--stack-depth", "3", "-E", "MY_API_KEY=hush", FADE_OPTIONS="--hang-timeout 5m")
    (options,), = recorded.rows("SELECT options FROM sessions")
    typed = options.replace(f" -o {recorded.path}", "")
    assert typed == ("--hang-timeout 5m -q -e mem,copy --kernel-include-regex 'a|b' --delay 1ms --no-follow "
                     "--max-size=1G --on-full stop --stack-depth 3 -E 'MY_API_KEY=<redacted>'")
    assert "-e mem,copy" in recorded.ask("info").stdout


# ---------------------------------------------------------------- coverage as data
def test_a_whole_recording_is_complete(recorded, parts):
    recorded.run(parts("alloc launch=4 free copy"))
    assert recorded.rows("SELECT count(*) FROM watched WHERE NOT complete OR NOT has_rows OR why IS NOT NULL") == [(0,)]
    assert recorded.rows("SELECT DISTINCT level FROM coverage WHERE kind = 'alloc' AND api = 'hip'") == [("rows",)]


def test_naming_all_groups_narrows_nothing(recorded, parts):
    recorded.run(parts("alloc launch=4 free"), "-e", "all")
    assert recorded.topic("calls") == (1, "rows", None, None)
    assert recorded.rows("SELECT verdict, instr(evidence, 'only a part') FROM verdicts") == [("USED", 0)]


@pytest.mark.parametrize("options, topic, level, narrowed, why", [
    (["-e", "mem"], "launches", "not", "events", "these calls were left out by -e"),
    (["--exclude", "^hipFree$"], "frees", "rows", "exclude", "hipFree was left out by --exclude"),
    (["--include", "^hipFree$"], "allocations", "not", "include", "these calls were left out by --include"),
    (["--delay", "1h"], "allocations", "not", "window", "it was not recorded"),
    (["--exe", "no-such-program"], "allocations", "not", "exe", "it was not watched: not chosen by --exe"),
], ids=lambda value: value[0].strip("-") if isinstance(value, list) else "")
def test_what_narrows_is_named(recorded, parts, options, topic, level, narrowed, why):
    recorded.run(parts("alloc launch=4 free"), *options)
    complete, found_level, found_narrowed, found_why = recorded.topic(topic)
    assert (complete, found_level, found_narrowed) == (0, level, narrowed) and why in found_why


def test_a_kernel_filter_narrows_rows_and_not_counts(recorded, parts):
    recorded.run(parts("launch=4"), "--kernel-include-regex", "first")
    assert recorded.rows(
        "SELECT topic, complete, has_rows FROM watched WHERE topic IN ('kernels', 'launches') ORDER BY 1") == [
            ("kernels", 1, 0), ("launches", 1, 1)]


def test_statistics_are_a_level(recorded, parts):
    recorded.run(parts("alloc launch=4"), "--detail", "stats")
    assert recorded.rows(
        "SELECT DISTINCT level FROM watched UNION SELECT DISTINCT level FROM coverage WHERE functions > 0") == [
            ("statistics",)]


# ---------------------------------------------------------------- verdict and check
@pytest.mark.parametrize("options, words", [
    (["--exclude", "^hipLaunchKernel$"], "alloc fail copy launch=4"),
    (["-e", "cuda"], "alloc launch=4"),
    (["-e", "mem"], "alloc launch=4"),
    (["--delay", "1h"], "alloc launch=4"),
], ids=["exclude", "cuda", "mem", "delay"])
def test_no_program_is_accused_of_what_was_not_watched(recorded, parts, options, words):
    recorded.run(parts(words), *options)
    assert recorded.rows("SELECT verdict FROM session_verdicts") == [("UNWATCHED",)]
    checked = recorded.ask("check", "--fail-on", "not-used")
    assert checked.returncode == 2 and checked.stdout.startswith("unknown: not used: ")
    assert "(verdict UNWATCHED" in checked.stdout


@pytest.mark.parametrize("options, words, condition, status", [
    ([], "alloc", "leaks", 1), ([], "alloc free", "leaks", 0), ([], "fail", "errors", 1),
    ([], "alloc free", "errors", 0), ([], "alloc", "exit", 0),
    (["--detail", "stats"], "alloc", "leaks", 1), (["--detail", "stats"], "alloc free", "leaks", 0),
    (["-e", "copy"], "alloc", "leaks", 2), (["--exclude", "^hipFree$"], "alloc free", "leaks", 2),
    (["--include", "^hipFree$"], "alloc", "leaks", 2),
    (["-e", "mem"], "fail", "errors", 2), (["-e", "device"], "fail", "errors", 1),
    (["-e", "mem"], "alloc", "findings", 2),
], ids=lambda value: "-".join(value).strip("-") if isinstance(value, list) else str(value).replace(" ", "+"))
def test_a_check_ends_with_two_where_it_cannot_be_told(recorded, parts, options, words, condition, status):
    recorded.run(parts(words), *options)
    checked = recorded.ask("check", "--fail-on", condition)
    assert checked.returncode == status, checked.stdout
    assert checked.stdout.startswith({0: "passed:", 1: f"failed: {condition}:", 2: f"unknown: {condition}:"}[status])
