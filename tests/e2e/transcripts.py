"""Console blocks of the documents: which are marked, what their commands print, and what of it is the same in every
run."""
import dataclasses
import os
import pathlib
import re
import shutil

import pexpect

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITUATIONS = ROOT / "tests" / "e2e" / "situations"
MARK = re.compile(r"^<!-- checked ?(?P<environment>.*?) ?-->\n```console\n(?P<text>.*?)^```$", re.M | re.S)
HOME = "/home/ada"  # the folder of the commands, as the documents call it
MORE = "..."  # the last line of an output: it goes on, and the document leaves out the rest

SIZE = r"\d+(?:\.\d+)? (?:B|KiB|MiB|GiB)\b"
DIFFERENT = [  # (what differs from run to run, what stands for it)
    (r"\d{4}-\d\d-\d\dT[\d:.]+( UTC)?( on \S+)?", "DATE"),
    (r"0x[0-9a-f]{5,}", "ADDRESS"),
    (r"\bpython3\.\d+\b", "python3"),
    (r"/usr/bin/python3\b", "python3"),
    (r"\b__mem\w+", "MEMCPY"),
    (r"\+0x[0-9a-f]+\b", "+OFFSET"),
    (r"\bslowdown .*? dropped\b", "slowdown COST dropped"),
    (r"\d+ of 30 steps slow\b( \(\d+ in the warm-up\))?", "N of 30 steps slow"),
    (r"(~0|\d+(\.\d+)? ?(ns|us|µs|ms|s|min)\b)( \d+ s\b)?", "TIME"),
    (r"\d+(\.\d+)? %", "PERCENT"),
    (rf"({SIZE})|\b\d+\.\d+\b", lambda found: found[1] or "NUMBER"),
    (r"about \d+x", "ABOUT"),
    (r"[█▉▊▋▌▍▎▏]+", ""),
]


@dataclasses.dataclass
class Step:
    """A command and what the document says that it prints."""
    command: str
    lines: list

    @property
    def is_cut(self):
        return self.lines[-1:] == [MORE]

    def with_output(self, output):
        lines = output.rstrip("\n").split("\n") if output.strip() else []
        return Step(self.command, lines[:len(self.lines) - 1] + [MORE] if self.is_cut else lines)

    def text(self):
        return "".join(f"{line}\n" for line in [f"$ {self.command}", *self.lines])


def steps_of(text):
    steps = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append(Step(line[2:], []))
        else:
            steps[-1].lines.append(line)
    return steps


def words(text):
    """The words of a text, without what differs from run to run: lines break elsewhere where a number is longer."""
    text = " ".join(text.split())
    for process in set(re.findall(r"\b(?:pid|[Pp]rocess|thread) (\d+)", text)):
        text = re.sub(rf"\b{process}\b", "PID", text)
    for pattern, name in DIFFERENT:
        text = re.sub(pattern, name, text)
    return text.split()


def same(step, output):
    """Whether the document says what the command printed, as far as the document quotes it."""
    said, printed = words("\n".join(step.lines[:-1] if step.is_cut else step.lines)), words(output)
    return printed[:len(said)] == said if step.is_cut else printed == said


def seen(line):
    """What is left of a line that returned to its beginning, and perhaps was cleared: a line of progress."""
    return line.rstrip("\r").split("\r")[-1].removeprefix("\x1b[K")


class Desk:
    """A folder with the programs of the seven situations, in which the commands of one page run one after the other."""

    def __init__(self, build, folder):
        self.folder = folder
        for program in SITUATIONS.glob("*.py"):
            shutil.copy(program, folder)
        for file in [build.demo / "train.py", *build.demo.glob("libamdhip64.so*")]:
            shutil.copy(file, folder)
        programs = [build.folder / "cli" / name for name in ("run", "attach", "query",
                                                             "trace", "top", "ctl", "fade")] + [build.demo]
        runtimes = [build.runtimes / "v6", build.runtimes / "markers", build.runtimes / "hsa"]
        self.environment = {
            "PATH": ":".join(map(str, [*programs, "/usr/bin", "/bin"])), "HOME": str(folder),
            "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "xterm",
            "LD_LIBRARY_PATH": ":".join(map(str, runtimes)), "PYTHONPATH": str(SITUATIONS / "site-packages"),
            "PYTHONDONTWRITEBYTECODE": "1", "FADE_CONFIG": "/dev/null", "FADE_SOURCE": str(ROOT),
        }

    def run(self, command, more=None):
        """What a terminal of 80 columns shows; it is higher than any page, so that no pager comes."""
        terminal = pexpect.spawn("bash", ["-c", command], cwd=str(self.folder),
                                 env={**self.environment, **(more or {})}, dimensions=(1000, 80),
                                 encoding="utf-8", timeout=120)
        output = terminal.read()
        terminal.close()
        return "".join(seen(line) + "\n" for line in output.replace(str(self.folder), HOME).split("\n")[:-1])


def environment_of(words):
    return dict(word.split("=", 1) for word in words.split())


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def updating():
    return bool(os.environ.get("FADE_UPDATE_GOLDENS"))
