#!/usr/bin/python3
"""What reports on stacks take where there are many of them: tests/bench/stack_reports.py --build-dir BUILD

Makes a recording with as many distinct stacks as asked for, by writing its tables: a tree as of a Python program of
many layers (each frame parts into two at every other level, until every stack stands for itself), some frames with
inlined functions, two functions called from each stack, every call with a row. Then each command is run several times;
the median is printed. Nothing here is a test.
"""
import argparse
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS = 40
FRAMES = 6000
COMMANDS = ["flame", "flame --weight calls", "flame --format collapsed", "flame --format speedscope",
            "flame --format csv", "flame --stack 40", "stacks",
            "stacks --limit 30", "stacks --limit 0", "stacks --stack 40", "calls --stack 40",
            "errors", "waits --by-line", "leaks", "memory --peak"]


def statements(name):
    return (ROOT / "schema" / f"{name}.sql").read_text()


def create(path):
    findings = [statements("findings"),
                *(file.read_text() for file in sorted((ROOT / "schema" / "findings").glob("*.sql")))]
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
    database.executescript("BEGIN;" + statements("tables") + statements("views") + "\nUNION ALL\n".join(findings) + ";")
    return database


def fill_frames(database):
    rng = random.Random(1)
    rows, inlined = [], []
    for number in range(1, FRAMES + 1):
        if number % 2 == 0:
            rows.append((number, 1, None, number, None, f"Layer{number % 97}.forward_{number}",
                         f"/usr/lib/python3/dist-packages/net/part_{number % 60}.py", rng.randrange(1, 900)))
        else:
            named = number % 6 != 1
            rows.append((number, 0, 1 + number % 5, 0x7f0000000000 + 16 * number, 16 * number,
                         f"at::native::kernel_{number}<float, {number % 7}>(at::Tensor const&, long)"
                         if named else None, None, None))
            if number % 20 == 5:
                inlined += [(number, depth, f"c10::impl::inlined_{number}_{depth}", "/src/c10/impl.h", 10 + depth)
                            for depth in range(2)]
    database.executemany("INSERT INTO frame_ VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?)", rows)
    database.executemany("INSERT INTO inline_ VALUES (?, ?, ?, ?, ?)", inlined)


def fill_stacks(database, count):
    """Gives the ids of the stacks that calls have."""
    known, leaves = {}, []
    for stack in range(count):
        parent = None
        for layer in range(LAYERS):
            part = stack * 2 ** (layer // 2) // count if 2 ** (layer // 2) < count else stack
            key = (parent, 1 + (part * 7919 + layer * 104729) % FRAMES)
            parent = known.setdefault(key, len(known) + 1)
        leaves.append(parent)
    database.executemany("INSERT INTO stack_ VALUES (?, ?, ?)",
                         ((number, parent, frame) for (parent, frame), number in known.items()))
    return leaves


def fill_calls(database, leaves, calls):
    rng = random.Random(2)
    database.execute(
        "INSERT INTO call_site_ VALUES (1, 1, '/usr/lib/libtorch_hip.so', 4096, 'at::native::launch+0x10', NULL)")
    for number in range(calls):
        call = number + 1
        stack = leaves[number % len(leaves)]
        allocates = number % 3 != 0
        ts, dur = 10_000 * call, rng.randrange(500, 9000)
        database.execute(
            "INSERT INTO call_ (id, ts, dur, thread, fn, caller, up, result, launch) VALUES (?, ?, ?, 1, ?, 1, NULL, "
            "NULL, NULL)", (call, ts, dur, 1 if allocates else 2))
        database.execute("INSERT INTO call_stack_ VALUES (?, ?)", (call, stack))
        bytes_ = rng.randrange(1, 1 << 20) if allocates else 0
        if allocates and number % 50 == 1:
            database.execute("INSERT INTO alloc_ VALUES (?, 0, 1, ?, ?, ?, NULL, ?, NULL, 1, 1)",
                             (call, 1 << 40 | call << 20, bytes_, ts, call))
        if number % 5000 == 17:
            database.execute("INSERT INTO error_ VALUES (?, ?, ?, ?, 1, ?, 1, 2, 'hipErrorOutOfMemory', NULL, 1)",
                             (call, call, ts, ts, 1 if allocates else 2))
        database.execute(
            "INSERT INTO stack_stat_ VALUES (?, ?, 1, 0, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + 1, total = "
            "total + excluded.total, self = self + excluded.self, "
            "bytes = bytes + excluded.bytes", (stack, 1 if allocates else 2, dur, dur, bytes_, call))
    database.execute(
        "INSERT INTO mem_holder_ SELECT 1, 0, '*', sum(bytes), sum(bytes), max(ts), count(*), 0, sum(bytes) FROM "
        "alloc_")


def make(path, stacks, calls):
    database = create(path)
    database.executescript("""
        INSERT INTO session_ VALUES (1, 'launch', 1700000000000000000, 1700000060000000000, 0, 'host', 'Linux', 'boot',
                                     '/', 'python3 train.py', '0.1.0', '', 'calls', 0, 1);
        INSERT INTO process_ VALUES (1, 1, NULL, 4242, 1, 0, 0, 0, 60000000000, '/usr/bin/python3',
                                     'python3 train.py', '{}', 0, NULL);
        INSERT INTO thread_ VALUES (1, 1, 4242, 'python3', 0, 60000000000);
        INSERT INTO device_ VALUES (1, 1, 0, 'AMD Radeon RX 6800 XT', 'gfx1030', NULL, NULL, 17179869184);
        INSERT INTO function_ VALUES (1, 1, 'hipMalloc', 'hip', 'mem', 'alloc', '/usr/lib/libamdhip64.so.6', 'ptr,size',
                                      'hipError_t', 0),
                                     (2, 1, 'hipStreamSynchronize', 'hip', 'sync', 'sync', '/usr/lib/libamdhip64.so.6',
                                      'stream', 'hipError_t', 0);""")
    database.executemany("INSERT INTO module_ VALUES (?, 1, ?, NULL, NULL, NULL, NULL, 0, 4096, 0, 0, NULL)",
                         ((i, f"/usr/lib/python3/dist-packages/torch/lib/libtorch_{i}.so") for i in range(1, 6)))
    fill_frames(database)
    leaves = fill_stacks(database, stacks)
    fill_calls(database, leaves, calls)
    database.commit()
    nodes = database.execute("SELECT count(*), (SELECT count(*) FROM call_stack_) FROM stack_").fetchone()
    database.close()
    return nodes


def timed(command):
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"stack_reports.py: {' '.join(map(str, command))}: {done.stderr.decode()}")
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", type=pathlib.Path, required=True, help="folder that CMake built into")
    parser.add_argument("--stacks", type=int, default=20_000, help="distinct stacks [20000]")
    parser.add_argument("--calls", type=int, default=100_000, help="calls that have them [100000]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--recording", type=pathlib.Path, help="keep the recording there, and use it where it exists")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fade-stacks-") as folder:
        path = options.recording or pathlib.Path(folder) / "stacks.db"
        if not path.exists():
            nodes, calls = make(path, options.stacks, options.calls)
            print(f"{options.stacks} stacks of {LAYERS} frames ({nodes} nodes), {calls} calls", file=sys.stderr)
        program = options.build_dir.resolve() / "cli" / "query" / "fade-query"
        for command in COMMANDS:
            words = command.split()
            seconds = [timed([program, path, *words, *([] if "--format" in words else ["--format", "table"])])
                       for _ in range(options.rounds)]
            print(f"{statistics.median(seconds) * 1000:10.0f} ms  {command}")


if __name__ == "__main__":
    main()
