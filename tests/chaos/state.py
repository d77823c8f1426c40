"""What can still be said about a target that was lost."""
import contextlib
import pathlib
import shutil
import subprocess

LINES = 400


def describe(target, fade):
    if not target:
        return ""
    parts = [f"everything is kept in {target.folder}", target.evidence.text(), tail(target.folder / "target.stderr")]
    if fade:
        parts.append(tail(fade.errors))
    core = next(target.folder.glob("core*"), None)
    if core:
        parts.append(gdb("/proc/self/exe" if not target.pid else executable(target), core))
    elif target.pid and not target.has_ended():
        parts += [live(target.pid), gdb("-p", str(target.pid))]
    return "\n".join(part for part in parts if part)


def executable(target):
    return target.process.args[-4]


def tail(path, most=4000):
    with contextlib.suppress(OSError):
        return path.read_text(errors="replace")[-most:]
    return ""


def live(pid):
    out = []
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir()):
        for name in ("status", "syscall", "stack"):
            with contextlib.suppress(OSError):
                text = (task / name).read_text()
                if name == "status":
                    wanted = ("State", "TracerPid", "Sig", "Shd")
                    text = "  ".join(line for line in text.splitlines() if line.startswith(wanted))
                out.append(f"{task.name} {name}: {text.strip()}")
    out.append((pathlib.Path(f"/proc/{pid}/maps")).read_text())
    return "\n".join(out[:LINES])


def gdb(*what):
    if not shutil.which("gdb"):
        return ""
    commands = ["info threads", "info registers", "x/6i $rip-8", "print $_siginfo",
                "thread apply all backtrace 6", "info proc mappings"]
    words = ["gdb", "-nx", "-batch", *[word for command in commands for word in ("-ex", command)], *map(str, what)]
    with contextlib.suppress(subprocess.TimeoutExpired):
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, errors="replace",
                              env={"DEBUGINFOD_URLS": "", "PATH": "/usr/bin:/bin"}).stdout
    return ""
