"""README.md and docs/: the console blocks that are marked as checked print what they say, and the links lead somewhere.

FADE_UPDATE_GOLDENS=1 writes what the commands print now into the pages."""
import json
import re
import subprocess

import pytest

import pictures
import transcripts

PAGES = {str(page.relative_to(transcripts.ROOT)): page for page in transcripts.pages()}
CHECKED = [name for name, page in PAGES.items() if transcripts.MARK.search(page.read_text())]
SITUATIONS = ["crash", "out-of-memory", "leak", "swallowed-error", "slow-step", "hang", "was-the-gpu-used"]


@pytest.mark.parametrize("name", CHECKED)
def test_commands_print_what_the_page_says(build, tmp_path, name):
    desk = transcripts.Desk(build, tmp_path)
    wrong = []

    def repeated(block):
        more = transcripts.environment_of(block["environment"])
        steps = []
        for step in transcripts.steps_of(block["text"]):
            output = desk.run(step.command, more)
            if not transcripts.same(step, output):
                wrong.append(f"$ {step.command}\n{output}")
                step = step.with_output(output)
            steps.append(step)
        start = block.start("text") - block.start()
        return block[0][:start] + "".join(step.text() for step in steps) + "```"

    page = transcripts.MARK.sub(repeated, PAGES[name].read_text())
    if transcripts.updating():
        PAGES[name].write_text(page)
    else:
        assert not wrong, "FADE_UPDATE_GOLDENS=1 writes this into the page:\n" + "\n".join(wrong)


@pytest.mark.parametrize("picture", sorted((transcripts.ROOT / "docs" / "pictures").glob("*.svg")),
                         ids=lambda path: path.stem)
def test_pictures_show_what_their_commands_print(build, tmp_path, picture):
    commands = pictures.commands_of(picture.read_text())
    desk = transcripts.Desk(build, tmp_path)
    del desk.environment["NO_COLOR"]
    drawn = pictures.svg(commands,
                         [line for command in commands for line in pictures.shown(command, desk.run(command))])
    if transcripts.updating():
        picture.write_text(drawn)
    else:
        said, shown = (transcripts.words(pictures.text_of(text)) for text in (picture.read_text(), drawn))
        assert said == shown, "FADE_UPDATE_GOLDENS=1 draws it again"


@pytest.mark.parametrize("name", SITUATIONS)
def test_each_situation_has_a_checked_transcript(name):
    assert f"docs/how-to/{name}.md" in CHECKED


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_files(name):
    text = re.sub(r"^```.*?^```$", "", PAGES[name].read_text(), flags=re.M | re.S)
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not (PAGES[name].parent / target).exists()] == []


def test_every_page_can_be_found():
    index = PAGES["docs/README.md"].read_text()
    assert [name for name in PAGES if name.startswith("docs/") and name != "docs/README.md"
            and f"({name.removeprefix('docs/')})" not in index] == []


def described(build, name):
    """A program's description of itself."""
    folder = {"fade-run": "run", "fade-attach": "attach", "fade-trace": "trace",
              "fade-top": "top", "fade-query": "query", "fade-doctor": "doctor", "fadectl": "ctl"}[name]
    return json.loads(subprocess.run([build.folder / "cli" / folder / name, "--dump-cli"],
                                     capture_output=True, text=True, check=True).stdout)


def commands_of(text):
    """Lines of blocks, and code in lines, that begin with a program of fade; without what follows --."""
    lines = [*re.findall(r"^(?:\$ )?(fade\S* .*)$", text, re.M), *re.findall(r"`(fade\S* [^`]*)`", text)]
    return [re.split(r" -- | #|[|&;>]", line)[0].split() for line in lines]


def test_options_and_reports_of_the_pages_exist(build):
    programs = {name: described(build, name) for name in ("fade-run", "fade-attach", "fade-trace",
                                                          "fade-top", "fade-query", "fade-doctor", "fadectl")}
    options = {name: {word for option in program["options"] for word in option["names"]}
               for name, program in programs.items()}
    reports = {word["name"] for word in programs["fade-query"]["words"]}
    unknown = []
    for page, path in PAGES.items():
        for program, *words in commands_of(path.read_text()):
            if program not in programs:
                continue
            unknown += [(page, program, word) for word in words if re.match("--[a-z]", word)
                        and word.split("=")[0] not in options[program]]
            report = next((word for word in words if not word.endswith(".db")), "-")
            if program == "fade-query" and re.fullmatch("[a-z][a-z-]+", report) and report not in reports:
                unknown.append((page, program, report))
    assert unknown == []


def test_the_front_page_is_short():
    assert len(PAGES["README.md"].read_text().splitlines()) <= 150
