"""What a call without a stop costs: beside a recorder that is preloaded into the program, and in a program that works between calls."""
import measure
import report
from calls import Row, fade_row, ratios

CALLS = 2_000_000
WORK_NS, WORK_CALLS = 5_000, 200_000
# Times the interposer, by placement.
GOALS = {"same core": 2.0, "different cores": 1.6, "unpinned": 2.0, "4 threads": 3.0}
WORKING_GOALS = {"different cores": 1.03, "same core": 1.20}
ENGINE = ("--engine", "taps")


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
    return Row(name, command, CALLS, environment=world.environment("v6", LD_PRELOAD=str(world.bench / "libbench_interposer.so")))


def tap_rows(world):
    options = (*ENGINE, "--detail", "stats")
    for placement, place, threads in (("same core", same, 1), ("different cores", apart, 1), ("unpinned", free, 1), ("4 threads", free, 4)):
        native = "interposer" + (", 4 threads" if threads > 1 else "")
        yield placement, fade_row(world, f"taps, --detail stats, {placement}", "hipMemcpy", "v6", place(world, options), threads, CALLS, native)


def working_rows(world):
    """A call each 5 us, every call with a row."""
    def program(calls):
        return [*world.program("hipMemcpy", calls), WORK_NS]
    yield "", Row("native: a call each 5 us", lambda calls: world.pinned(*program(calls), cpu=world.other), WORK_CALLS, environment=world.environment("v6"))
    for placement, place in (("different cores", apart), ("same core", same)):
        row = fade_row(world, f"a call each 5 us, taps, {placement}", "hipMemcpy", "v6", place(world, ENGINE), 1, WORK_CALLS, "native: a call each 5 us")
        row.command = lambda calls, place=place: place(world, ENGINE)(*program(calls))
        yield placement, row


def line(row, base, goal):
    middle = measure.median(ratios(row, base)) if base else 1
    return [row.name, report.nanoseconds(measure.median([cost.wall for cost in row.costs])), report.ratio(middle) if base else "",
            report.goal("<=", goal, middle, "x") if goal else ""]


def section(world, rounds):
    rows = [(None, interposer_row(world, 1)), (None, interposer_row(world, 4))]
    rows += [(GOALS[placement], row) for placement, row in tap_rows(world)]
    rows += [(WORKING_GOALS.get(placement), row) for placement, row in working_rows(world)]
    for _ in range(rounds):
        for _, row in rows:
            row.costs.append(row.measure(world.folder))
    by_name = {row.name: row for _, row in rows}
    lines = [line(row, by_name.get(row.native), goal) for goal, row in rows]
    return [report.Table(["one call", "ns", "x its base", "goal"], lines, [])]
