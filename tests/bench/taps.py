"""What a call without a stop costs: beside a recorder that is preloaded into the program, and in a program that works
between calls."""
import contextlib

import measure
import report
import tracers
from calls import Row, fade_row, ratios, take

CALLS = 2_000_000
WORK_NS, WORK_CALLS = 5_000, 200_000
# Times the interposer, by placement.
GOALS = {"same core": 2.0, "different cores": 1.6, "unpinned": 2.0, "4 threads": 3.0}
WORKING_GOALS = {"different cores": 1.03, "same core": 1.20}
ENGINE = ("--engine", "taps")
NATIVE = "native: hipMemcpy, v6"


def same(world, options):
    return lambda *program: world.pinned(*world.supervised(*program, options=options))


def apart(world, options):
    return lambda *program: world.pinned(*world.supervised(*world.pinned(*program, cpu=world.other), options=options))


def free(world, options):
    return lambda *program: world.supervised(*program, options=options)


def interposer_row(world, threads):
    name = "interposer" + (", 4 threads" if threads > 1 else "")

    def command(calls):
        program = world.program("hipMemcpy", calls, threads)
        return program if threads > 1 else world.pinned(*program)
    return Row(name, command, CALLS,
               environment=world.environment("v6", LD_PRELOAD=str(world.bench / "libbench_interposer.so")))


def tap_rows(world):
    options = (*ENGINE, "--detail", "stats")
    for placement, place, threads in (("same core", same, 1), ("different cores", apart, 1),
                                      ("unpinned", free, 1), ("4 threads", free, 4)):
        native = "interposer" + (", 4 threads" if threads > 1 else "")
        yield placement, fade_row(world, f"taps, --detail stats, {placement}", "hipMemcpy",
                                  "v6", place(world, options), threads, CALLS, native)


def working_rows(world):
    """A call each 5 us, every call with a row."""
    def program(calls):
        return [*world.program("hipMemcpy", calls), WORK_NS]
    yield "", Row("native: a call each 5 us", lambda calls: world.pinned(*program(calls), cpu=world.other),
                  WORK_CALLS, environment=world.environment("v6"))
    for placement, place in (("different cores", apart), ("same core", same)):
        row = fade_row(world, f"a call each 5 us, taps, {placement}", "hipMemcpy",
                       "v6", place(world, ENGINE), 1, WORK_CALLS, "native: a call each 5 us")
        row.command = lambda calls, place=place: place(world, ENGINE)(*program(calls))
        yield placement, row


def line(row, base, goal):
    middle = measure.median(ratios(row, base)) if base else 1
    return [row.name, report.nanoseconds(measure.median([cost.wall for cost in row.costs])),
            report.ratio(middle) if base else "",
            report.goal("<=", goal, middle, "x") if goal else ""]


def tracer_rows(world, probes, notes):
    def native(calls):
        return world.pinned(*world.program("hipMemcpy", calls))
    yield Row(NATIVE, native, CALLS, environment=world.environment("v6"))
    if world.has("uftrace"):
        yield tracers.uftrace_row(world)
    else:
        notes.append("uftrace: not installed, no row")
    if probes:
        yield probes.row(world)
    else:
        notes.append("uprobes: the tracefs of the kernel cannot be used here, no row")


def added(row, native, of):
    """What the calls cost more than in the program alone, in each round."""
    return [getattr(one, of) - getattr(two, of) for one, two in zip(row.costs, native.costs)]


def tracer_line(row, fade, native):
    cells = [row.name]
    for of in ("wall", "cpu"):
        mine, others = added(fade, native, of), added(row, native, of)
        times = measure.median([other / own for own, other in zip(mine, others)])
        cells += [report.nanoseconds(measure.median(others)), report.ratio(times)]
    return [*cells, report.goal(">=", tracers.GOALS[row.name], times, "x") if row.name in tracers.GOALS else ""]


def tracer_table(fade, rows, notes):
    native = next(row for row in rows if row.name == NATIVE)
    columns = ["what a call costs more on one core", "ns", "x fade", "CPU ns", "x fade", "goal"]
    return report.Table(columns, [tracer_line(row, fade, native) for row in (fade, *rows) if row is not native], notes)


def section(world, rounds):
    notes = []
    with contextlib.ExitStack() as stack:
        probes = stack.enter_context(tracers.Uprobes(world)) if tracers.Uprobes.can() else None
        return measure_all(world, rounds, list(tracer_rows(world, probes, notes)), notes)


def measure_all(world, rounds, others, notes):
    rows = [(None, interposer_row(world, 1)), (None, interposer_row(world, 4))]
    rows += [(GOALS[placement], row) for placement, row in tap_rows(world)]
    rows += [(WORKING_GOALS.get(placement), row) for placement, row in working_rows(world)]
    for _ in range(rounds):
        for _, row in rows:
            row.costs.append(row.measure(world.folder))
        for row in others[:]:
            take(row, others, world.folder, notes)
    by_name = {row.name: row for _, row in rows}
    lines = [line(row, by_name.get(row.native), goal) for goal, row in rows]
    fade = by_name["fade-run: taps, --detail stats, same core"]
    return [report.Table(["one call", "ns", "x its base", "goal"], lines, []), tracer_table(fade, others, notes)]
