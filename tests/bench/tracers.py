"""Other tracers that record a call without stopping the program: uftrace, and the kernel's uprobes."""
import os
import pathlib
import shutil
import subprocess

import measure
from calls import Row

TRACEFS = pathlib.Path("/sys/kernel/tracing")
GROUP = "fade_bench"
WORDS = "a=%di b=%si c=%dx d=%cx"  # the four arguments of hipMemcpy
CALLS, FEW = 200_000, 2_000
# Times the whole cost of a tapped call, of program and fade.
GOALS = {"uftrace": 5, "uprobe and uretprobe": 50}


def uftrace_row(world):
    output = world.folder / "uftrace"
    command = [
        "uftrace",
        "record",
        "--force",
        "--no-event",
        "-d",
        output,
        "-F",
        "hipMemcpy",
        "-A",
        "hipMemcpy@arg1,arg2,arg3,arg4",
        "-R",
        "hipMemcpy@retval",
    ]

    def check(made):
        told = subprocess.run(
            ["uftrace", "report", "-d", output, "-f", "call"], capture_output=True, text=True, check=True
        ).stdout
        seen = sum(int(line.split()[-2]) for line in told.splitlines() if line.endswith(" hipMemcpy"))
        if seen != made:
            raise measure.Failed(f"uftrace: {seen} of {made} calls were recorded")

    return Row(
        "uftrace",
        lambda calls: world.pinned(*command, *world.program("hipMemcpy", calls)),
        CALLS,
        "native: hipMemcpy, v6",
        world.environment("v6"),
        check,
        lambda: shutil.rmtree(output, ignore_errors=True),
        peer=True,
        few=FEW,
    )


class Uprobes:
    """Probes at the entry and the returns of hipMemcpy, in a copy of the library: no other row meets them."""

    def __init__(self, world):
        self.library = world.folder / "uprobes" / "libamdhip64.so.6"
        self.library.parent.mkdir()
        shutil.copy(world.library("v6") / self.library.name, self.library)
        (self.library.parent / "libamdhip64.so").symlink_to(self.library)

    @staticmethod
    def can():
        if not TRACEFS.joinpath("uprobe_events").exists() and os.geteuid() == 0:
            subprocess.run(["mount", "-t", "tracefs", "none", TRACEFS], check=False, capture_output=True)
        return os.access(TRACEFS / "uprobe_events", os.W_OK)

    def offset(self):
        symbols = subprocess.run(["nm", "-D", self.library], capture_output=True, text=True, check=True).stdout
        return next(line.split()[0] for line in symbols.splitlines() if line.split()[-1].split("@")[0] == "hipMemcpy")

    def __enter__(self):
        place = f"{self.library}:0x{self.offset()}"
        for definition in (f"p:{GROUP}/entry {place} {WORDS}", f"r:{GROUP}/return {place} result=$retval"):
            self.append(definition)
        self.enable(1)
        return self

    def __exit__(self, *_):
        self.enable(0)
        for name in ("entry", "return"):
            self.append(f"-:{GROUP}/{name}")

    @staticmethod
    def append(text):
        """open("a") would seek, which the file cannot."""
        events = os.open(TRACEFS / "uprobe_events", os.O_WRONLY | os.O_APPEND)
        try:
            os.write(events, f"{text}\n".encode())
        finally:
            os.close(events)

    @staticmethod
    def enable(on):
        TRACEFS.joinpath("events", GROUP, "enable").write_text(str(on))

    @staticmethod
    def hits():
        lines = TRACEFS.joinpath("uprobe_profile").read_text().split("\n")
        return sum(int(line.split()[2]) for line in lines if line and line.split()[1] == "entry")

    def row(self, world):
        seen = []

        def check(made):
            if self.hits() - seen[-1] != made:
                raise measure.Failed(f"uprobes: {self.hits() - seen[-1]} of {made} calls were recorded")

        return Row(
            "uprobe and uretprobe",
            lambda calls: world.pinned(*world.program("hipMemcpy", calls)),
            CALLS,
            "native: hipMemcpy, v6",
            {**world.environment("v6"), "LD_LIBRARY_PATH": str(self.library.parent)},
            check,
            lambda: seen.append(self.hits()),
            peer=True,
            few=FEW,
        )
