"""Runs inside gdb: records the arguments and the result of every call of one function, as one would by hand.

BENCH_FUNCTION, BENCH_OUTPUT and BENCH_TIDY come through the environment. gdb keeps a finish breakpoint whose stop()
lets the program run on, and each one more makes every stop slower. With BENCH_TIDY=1 it is deleted at the next call,
which is the best that gdb can do; without, the script is what gdb's manual shows.
"""
import os

import gdb

ARGUMENTS = ("rdi", "rsi", "rdx", "rcx")
output = open(os.environ["BENCH_OUTPUT"], "w", encoding="ascii")
tidy = os.environ.get("BENCH_TIDY") == "1"


class Return(gdb.FinishBreakpoint):
    arguments = ()

    def stop(self):
        output.write(f"{self.arguments} {int(gdb.selected_frame().read_register('rax'))}\n")
        return False


class Entry(gdb.Breakpoint):
    last = None

    def stop(self):
        if tidy and self.last:
            self.last.delete()
        frame = gdb.selected_frame()
        self.last = Return(frame, internal=True)
        self.last.arguments = [int(frame.read_register(name)) for name in ARGUMENTS]
        return False


for setting in ("pagination off", "confirm off", "breakpoint pending on"):
    gdb.execute(f"set {setting}")
Entry(os.environ["BENCH_FUNCTION"])
gdb.execute("run")
output.close()
