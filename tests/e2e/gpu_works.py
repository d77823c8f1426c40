"""Programs of the stand-in runtime that put work to run on a GPU, and the times that it wrote down."""

import collections

import harness


def environment(build, runtime, truth, **more):
    variables = build.environment(runtime, FADE_STANDIN_HSA=str(truth), **more)
    hsa = "hsa5" if runtime == "v5" else "hsa"  # the forms of their entries differ
    variables["LD_LIBRARY_PATH"] += f":{build.runtimes / hsa}"
    return variables


def recorded(build, line, folder, *options, runtime="v6", **more):
    """Runs with --gpu-times. Returns the recording, and what the runtime says it did."""
    truth = folder / "truth"
    command = [build.fade_run, "-q", "--gpu-times", *options, "-o", folder / "run.db", "--", *build.command(line)]
    ran = harness.run(command, environment(build, runtime, truth, **more), folder / "run", timeout=300)
    assert (ran.status, ran.stdout) == (0, b"done\n"), ran.stderr
    return harness.Database(folder / "run.db"), works_of(truth)


def works_of(truth):
    """(thread, its number of a call with work) -> works: kind, name, stream, start, end, bytes."""
    works = collections.defaultdict(list)
    for line in truth.read_text().splitlines():
        tid, call, kind, name, *numbers = line.split()
        works[int(tid), int(call)].append((kind, kind if name == "-" else name, *map(int, numbers)))
    return {key: sorted(value) for key, value in works.items()}


def spans_of(works):
    """The union of (start, end), as spans in order."""
    spans = []
    for start, end in sorted(works):
        if spans and start <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], end)
        else:
            spans.append([start, end])
    return spans


def length_of(works):
    return sum(end - start for start, end in spans_of(works))
