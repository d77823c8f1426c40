"""How evenly fade-run serves threads that call all the time: calls of each, their sum, how long a rare caller waits.

    /usr/bin/python3 tests/bench/share.py --build-dir BUILD [--against OTHER_FADE_RUN] [--rounds 3] [--seconds 5]

Runs tests/tracees/share.c. With --against both programs run in turns within each round. The last column is the median
of the ratios of their sums, because figures of different hours say little about each other on a shared machine."""
import argparse
import pathlib
import statistics
import subprocess
import tempfile

COUNTS = (2, 8, 64, 500)
BESIDE = 8  # threads beside the rare caller


def run(arguments, fade_run, threads, *more):
    """Calls of each thread, and of a rare caller (calls, median, 95 %, longest in nanoseconds)."""
    build = pathlib.Path(arguments.build_dir).resolve()
    environment = {"LD_LIBRARY_PATH": str(build / "tests" / "runtime" / "v6")}
    program = [build / "tests" / "tracees" / "bin" / "share", threads, arguments.seconds, *more]
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        supervised = [fade_run, "-q", "-o", f"{folder}/run.db", "--"] if fade_run else []
        words = [str(word) for word in [*supervised, *program]]
        ran = subprocess.run(words, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    lines = ran.stdout.splitlines()
    rare = [[int(word) for word in line.split()[1:]] for line in lines if line.startswith("rare")]
    return [int(line) for line in lines if not line.startswith("rare")], rare[0] if rare else None


def spread(calls):
    return max(calls) / max(1, min(calls))


def median(values):
    return statistics.median(values)


def table(arguments, tools):
    print("| threads | fade-run | calls/s | least | most | most / least | of rounds | calls/s of this / other |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | --- | --- |", flush=True)
    for threads in arguments.threads:
        made = {name: [] for name in tools}
        for number in range(arguments.rounds):
            for name in list(tools)[::1 if number % 2 == 0 else -1]:
                made[name].append(run(arguments, tools[name], threads)[0])
        for name, rounds in made.items():
            shares = [sum(one) / sum(other) for one, other in zip(made["this"], rounds)]
            against = "" if name == "this" else f"{median(shares):.2f} ({min(shares):.2f} to {max(shares):.2f})"
            spreads = [spread(one) for one in rounds]
            print(f"| {threads} | {name} | {median([sum(one) for one in rounds]) / arguments.seconds:,.0f} "
                  f"| {median([min(one) for one in rounds]):,.0f} | {median([max(one) for one in rounds]):,.0f} "
                  f"| {median(spreads):,.2f} | {min(spreads):,.2f} to {max(spreads):,.2f} | {against} |", flush=True)


def rare_table(arguments, tools):
    print(f"\n| one call in 5 ms beside {BESIDE} busy threads | median | 95 % | longest | of rounds |")
    print("| --- | ---: | ---: | ---: | --- |", flush=True)
    tools = {"native": None, **tools}
    waits = {name: [] for name in tools}
    for _ in range(arguments.rounds):
        for name, fade_run in tools.items():
            waits[name].append([ns / 1e6 for ns in run(arguments, fade_run, BESIDE, "rare")[1][1:]])
    for name, rounds in waits.items():
        middle, most, longest = ([one[index] for one in rounds] for index in range(3))
        print(f"| {name} | {median(middle):.3f} ms | {median(most):.2f} ms | {median(longest):.1f} ms "
              f"| {min(longest):.1f} to {max(longest):.1f} ms |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build-dir", required=True)
    parser.add_argument("--against", help="another fade-run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")], default=COUNTS)
    parser.add_argument("--only", choices=("share", "rare"))
    parser.add_argument("--folder", help="where recordings are written for a moment")
    arguments = parser.parse_args()
    tools = {"this": pathlib.Path(arguments.build_dir).resolve() / "cli" / "run" / "fade-run"}
    if arguments.against:
        tools["other"] = pathlib.Path(arguments.against).resolve()
    if arguments.only != "rare":
        table(arguments, tools)
    if arguments.only != "share":
        rare_table(arguments, tools)


if __name__ == "__main__":
    main()
