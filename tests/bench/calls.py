"""What one call costs: natively, under the bare two stops, under fade-run in every placement, under ltrace and gdb."""
import dataclasses
import pathlib
import random
import sys
import typing

import measure
import report

FLOOR_GOAL, LTRACE_GOAL, GDB_GOAL = 1.55, 0.30, 1 / 15
BREAKPOINTS = ("--engine", "breakpoints")
FEW = 100  # calls of the run that shows what starting and ending cost
GDB_SCRIPT = pathlib.Path(__file__).resolve().parent / "gdb_calls.py"


@dataclasses.dataclass
class Row:
    name: str
    command: typing.Callable  # calls -> words
    calls: int
    native: str = ""  # row of the same program, unsupervised
    environment: dict = None
    check: typing.Callable = lambda calls: None
    before: typing.Callable = lambda: None
    floor_goal: bool = False
    peer: bool = False  # left out with a note where it does not work
    few: int = FEW
    costs: list = dataclasses.field(default_factory=list)  # one a round, of one call

    def run(self, calls, folder):
        self.before()
        cost = measure.run(self.command(calls), self.environment, folder)
        self.check(calls)
        return cost

    def measure(self, folder):
        """What the calls add to a run that makes few: start and end are taken out."""
        few = self.run(self.few, folder)
        return (self.run(self.calls, folder) - few).per(self.calls - self.few)


def native_rows(world):
    shapes = [("hipMemcpy, v5", "v5", "hipMemcpy", 1), ("hipMemcpy, v5, 4 threads", "v5", "hipMemcpy", 4),
              ("hipMemcpy, v6", "v6", "hipMemcpy", 1),
              ("hipMemcpy, v6, 4 threads", "v6", "hipMemcpy", 4), ("hipLaunchKernel, v6", "v6", "hipLaunchKernel", 1),
              ("hipGetDeviceCount, v6", "v6", "hipGetDeviceCount", 1)]
    for shape, library, function, threads in shapes:
        def command(calls, function=function, threads=threads):
            program = world.program(function, calls, threads)
            return program if threads > 1 else world.pinned(*program)
        yield Row(f"native: {shape}", command, 5_000_000, environment=world.environment(library))


def fade_rows(world, calls):
    """Placements: where fade-run and the program are when they start; (of the others) both are on one core."""
    def supervised(*program, options=()):
        return world.supervised(*program, options=(*BREAKPOINTS, *options))

    def same(*program):
        return world.pinned(*supervised(*program))

    def apart(*program):
        return world.pinned(*supervised(*world.pinned(*program, cpu=world.other)))

    placements = [("same core", same, 1), ("different cores", apart, 1), ("unpinned", supervised, 1),
                  ("4 threads", supervised, 4)]
    for library in ("v5", "v6"):
        for placement, place, threads in placements:
            native = f"native: hipMemcpy, {library}" + (", 4 threads" if threads > 1 else "")
            yield fade_row(world, f"hipMemcpy, {library}, {placement}", "hipMemcpy",
                           library, place, threads, calls, native)
    for function in ("hipLaunchKernel", "hipGetDeviceCount"):
        yield fade_row(world, f"{function}, v6, same core", function, "v6", same, 1, calls, f"native: {function}, v6")
    for detail in ("stats", "full"):
        def detailed(*program, detail=detail):
            return world.pinned(*supervised(*program, options=("--detail", detail)))
        row = fade_row(world, f"--detail {detail}, hipMemcpy, v6, same core", "hipMemcpy",
                       "v6", detailed, 1, calls, "native: hipMemcpy, v6")
        row.floor_goal = False
        yield row


def fade_row(world, name, function, library, place, threads, calls, native):
    def check(made):
        seen = world.recorded().get(function, 0)
        if seen != made // threads * threads:
            raise measure.Failed(f"{name}: {seen} of {made} calls were recorded")
    return Row(f"fade-run: {name}", lambda made: place(*world.program(function, made, threads)), calls, native,
               world.environment(library), check, world.forget_recording, floor_goal=True)


def peer_row(world, name, command, calls, **environment):
    output = world.folder / "peer.txt"

    def check(made):
        seen = sum(1 for line in output.open(errors="replace") if not line.startswith("+++"))
        if seen != made:
            raise measure.Failed(f"{name}: {seen} of {made} calls were recorded")
    return Row(name, lambda made: world.pinned(*command, *world.program("hipMemcpy", made)),
               calls, "native: hipMemcpy, v6",
               world.environment("v6", BENCH_OUTPUT=str(output), DEBUGINFOD_URLS="", **environment), check, peer=True)


def peer_rows(world, notes):
    if world.has("ltrace"):
        yield peer_row(world, "ltrace -e hipMemcpy -o FILE",
                       ["ltrace", "-e", "hipMemcpy", "-o", world.folder / "peer.txt"], 5000)
    else:
        notes.append("ltrace: not installed, no row")
    if world.has("gdb"):
        gdb = ["gdb", "-q", "-nx", "-batch", "-x", GDB_SCRIPT, "--args"]
        yield peer_row(world, "gdb, finish breakpoints deleted", gdb, 2000, BENCH_FUNCTION="hipMemcpy", BENCH_TIDY="1")
        plain = peer_row(world, "gdb, as its manual shows, 500 calls", gdb, 500, BENCH_FUNCTION="hipMemcpy")
        plain.few = 10
        yield plain
    else:
        notes.append("gdb: not installed, no row")


def take(row, rows, folder, notes):
    try:
        row.costs.append(row.measure(folder))
    except measure.Failed as failure:
        if not row.peer:
            raise
        rows.remove(row)
        notes.append(f"left out: {failure}")


def measure_rounds(world, rows, floor, rounds, notes):
    """Every row once a round in a new order, the floor between them: a round's floor is the median of its own."""
    floors = []
    shuffle = random.Random(1)
    for number in range(rounds):
        print(f"capture.py: round {number + 1} of {rounds}, load {measure.load():.1f}", file=sys.stderr, flush=True)
        order = rows[:]
        shuffle.shuffle(order)
        samples = []
        for index, row in enumerate(order):
            if index % 4 == 0:
                samples.append(floor.measure(world.folder))
            take(row, rows, world.folder, notes)
        floors.append(measure.Cost(measure.median([s.wall for s in samples]), measure.median([s.cpu for s in samples])))
    floor.costs = floors


def ratios(row, other, of="wall"):
    return [getattr(one, of) / getattr(two, of) for one, two in zip(row.costs, other.costs)]


def line(row, rows, floor):
    to_floor = ratios(row, floor)
    native = next((other for other in rows if other.name == row.native), None)
    middle = measure.median(to_floor)
    cells = [row.name, report.nanoseconds(measure.median([cost.wall for cost in row.costs])), report.ratio(middle),
             f"{report.ratio(min(to_floor))} to {report.ratio(max(to_floor))}",
             report.ratio(measure.median(ratios(row, floor, "cpu"))),
             report.ratio(measure.median(ratios(row, native))) if native else "", ""]
    if row.floor_goal:
        cells[-1] = report.goal("<=", FLOOR_GOAL, middle, "x floor")
    return cells


def peer_goals(rows):
    """fade on the same core against each peer on the same core."""
    fade = next(row for row in rows if row.name == "fade-run: hipMemcpy, v6, same core")
    for row in rows:
        for prefix, limit in (("ltrace", LTRACE_GOAL), ("gdb", GDB_GOAL)):
            if row.name.startswith(prefix):
                share, cpu = (measure.median(ratios(fade, row, of)) for of in ("wall", "cpu"))
                yield [f"fade-run / {row.name}", f"{share:.3f}", f"{cpu:.3f}", report.goal("<=", limit, share, "", 3)]


def section(world, rounds, calls):
    notes = []
    floor = Row("floor: two stops, nothing read", lambda made: world.pinned(world.bench / "bench_floor", made),
                calls, environment=world.environment())
    rows = [*native_rows(world), *fade_rows(world, calls), *peer_rows(world, notes)]
    measure_rounds(world, rows, floor, rounds, notes)
    columns = ["one call", "ns", "x floor", "of rounds", "CPU x floor", "x native", "goal"]
    costs = report.Table(columns, [line(row, rows, floor) for row in (floor, *rows)], notes)
    return [costs, report.Table(["against other tools", "share", "share of CPU", "goal"], list(peer_goals(rows)), [])]
