"""Figures of whole runs: start-up with many libraries, a thousand threads, memory, the writer, and the summary of a big
file."""
import re
import subprocess
import sys

import measure
import report

MODULES = 150
WRITER_RUNS = 9
# M rows/s of CPU of inserts such as plain_inserts makes, SQLite 3.40.1, where the goal of 1.5 M calls/s was set (2
# vCPUs, AMD EPYC, Zen 4).
PLAIN_WHERE_THE_GOAL_WAS_SET = 1.22
MODULE = "int bench_module_{0}(void) {{ return {0}; }}\n"


def say(what):
    print(f"capture.py: {what}, load {measure.load():.1f}", file=sys.stderr, flush=True)


def compile_modules(world):
    """A program that links 150 libraries of its own and the HIP runtime; made once per build folder."""
    folder = world.bench / "modules"
    program = folder / "bench_modules"
    if program.exists():
        return program
    folder.mkdir(exist_ok=True)
    numbers = range(MODULES)
    for number in numbers:
        source = folder / "module.c"
        source.write_text(MODULE.format(number))
        compiler("-shared", "-fPIC", "-o", folder / f"libbench{number}.so", source)
    main = folder / "main.c"
    declarations = "".join(f"int bench_module_{number}(void);\n" for number in numbers)
    total = " + ".join(f"bench_module_{number}()" for number in numbers)
    main.write_text(
        f"int hipDeviceSynchronize(void);\n{declarations}int main(void) {{ return ({total}) == 0 || "
        f"hipDeviceSynchronize(); }}\n")
    libraries = [f"-lbench{number}" for number in numbers]
    compiler("-o", program.with_suffix(".new"), main, f"-L{folder}", *libraries,
             f"-L{world.library('link')}", "-lamdhip64",
             f"-Wl,-rpath,{folder}", "-Wl,--allow-shlib-undefined")
    program.with_suffix(".new").rename(program)
    return program


def compiler(*words):
    done = subprocess.run(["cc", "-O1", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise measure.Failed(f"cc {words[0]} ...: {done.stderr[-400:].strip()}")


def start_up(world, rounds):
    program = compile_modules(world)
    say("start-up")
    plain = world.program("hipMemcpy", 1)
    costs = {name: [] for name in ("native", "fade", "plain", "plain fade")}
    for _ in range(3 * rounds):
        for name, command in (("native", [program]), ("fade", world.supervised(program)),
                              ("plain", plain), ("plain fade", world.supervised(*plain))):
            world.forget_recording()
            costs[name].append(1000 * measure.run(command, world.environment(), world.folder).wall)
    added = measure.median([fade - native for fade, native in zip(costs["fade"], costs["native"])])
    few = measure.median([fade - native for fade, native in zip(costs["plain fade"], costs["plain"])])
    yield ["start and end, 150 libraries: added by fade-run",
           f"{added:.0f} ms (native {measure.median(costs['native']):.0f} ms)",
           report.goal("<=", 100, added, "ms", 0)]
    yield ["start and end, few libraries: added by fade-run",
           f"{few:.0f} ms (native {measure.median(costs['plain']):.0f} ms)", ""]


def thousand_threads(world):
    say("a thousand threads")
    calls = 50_000
    program = world.program("hipMemcpy", calls, 1000)
    native = measure.run(program, world.environment(), world.folder)
    world.forget_recording()
    cost = measure.run(world.supervised(*program), world.environment(), world.folder)
    seen = world.recorded().get("hipMemcpy", 0)
    yield [f"1000 threads at once, {calls:,} calls",
           f"{cost.wall:.2f} s (native {native.wall:.2f} s), {seen:,} counted",
           "all counted, " + ("met" if seen == calls else "MISSED")]


def memory(world, quick):
    say("memory")
    calls = 50_000 if quick else 300_000
    world.forget_recording()
    peak, _ = measure.peak_memory_mb(world.supervised(*world.program("hipMemcpy", calls)),
                                     world.environment(), world.folder)
    yield [f"fade-run, peak memory, {calls:,} calls", f"{peak:.0f} MB", report.goal("<=", 100, peak, "MB", 0)]


def millions(output):
    """Of calls or rows in a second of CPU."""
    return float(re.search(r"([\d.]+) M (?:calls|rows)/s of (?:writer )?CPU", output)[1])


def writer(world, calls):
    """In turns with SQLite alone: one long run is at the mercy of what else the machine does."""
    def of(program):
        return millions(measure.peak_memory_mb([world.bench / program, calls, world.folder],
                                               world.environment(), world.folder)[1])
    figures = {"store_bench": [], "plain_inserts": []}
    for number in range(WRITER_RUNS):
        for program in sorted(figures, reverse=number % 2 == 0):
            figures[program].append(of(program))
    speeds, plain = figures.values()
    ratios = [speed / alone for speed, alone in zip(speeds, plain)]
    for name, values, unit, goal in (
            (f"writer: calls per second of its CPU, {calls:,} calls", speeds, " M",
             report.goal(">=", 1.5, measure.median(speeds), "M")),
            (f"SQLite alone: rows per second of CPU, {calls:,} rows", plain, " M", ""),
            ("writer: calls / rows of SQLite alone", ratios, "",
             report.goal(">=", 1.5 / PLAIN_WHERE_THE_GOAL_WAS_SET, measure.median(ratios), ""))):
        yield [f"{name}, {WRITER_RUNS} runs",
               f"{measure.median(values):.2f}{unit} ({min(values):.2f} to {max(values):.2f})", goal]


def store(world, quick):
    """The writer alone, fed as fast as it takes; and what a summary of its file costs."""
    many, file_calls = (2_000_000, 1_000_000) if quick else (24_000_000, 10_000_000)
    say("the writer")
    program = world.bench / "store_bench"
    peak, output = measure.peak_memory_mb([program, many, world.folder], world.environment(), world.folder)
    size = float(re.search(r"([\d.]+) bytes per call", output)[1])
    yield from writer(world, many // WRITER_RUNS)
    yield ["writer: file size per call", f"{size:.1f} bytes", report.goal("<=", 40, size, "bytes", 0)]
    yield ["writer and its queue: peak memory", f"{peak:.0f} MB", report.goal("<=", 100, peak, "MB", 0)]
    yield from summary(world, program, file_calls)


def summary(world, program, calls):
    say("the summary")
    recording = world.folder / "big.db"
    measure.run([program, calls, world.folder, recording], world.environment(), world.folder)
    times = [1000 * measure.run([world.fade_query, recording, "summary"], world.environment(), world.folder).wall
             for _ in range(11)]
    took = measure.median(times)
    yield [f"fade-query summary of {calls:,} calls, file in the page cache", f"{took:.0f} ms",
           report.goal("<=", 50, took, "ms", 0)]
    recording.unlink()


def section(world, rounds, quick):
    rows = [*start_up(world, rounds), *thousand_threads(world), *memory(world, quick), *store(world, quick)]
    return [report.Table(["whole runs", "figure", "goal"], rows, [])]
