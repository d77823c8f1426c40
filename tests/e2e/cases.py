"""The table of cases: which tracee, with what arguments, on which runtimes, and what is special about it."""
import dataclasses

CORE = "v5 v6 v7 plt ifunc hard wheel stripped"
SHAPES = "v5 v6 hard"  # bodies, dispatch stubs, entries that are hard to relocate


@dataclasses.dataclass(frozen=True)
class Case:
    line: str               # tracee and arguments
    runtimes: str = "v6"
    free: bool = False      # how often it calls differs from run to run
    merged: bool = False    # processes share memory, so the runtime cannot tell them apart: compare sums
    slack: int = 0          # threads that are killed inside a call: fade saw the entry, the runtime may not have
    holds: tuple = ()       # SQL that must yield 1
    needs: str = ""         # a tracee that only some machines can build


NO_OPEN_CALLS = "SELECT count(*) = 0 FROM calls WHERE state = 'open'"
HAS_UNWOUND = "SELECT count(*) > 0 FROM calls WHERE state = 'unwound'"


def shared_bytes_are(name, values):
    return (f"SELECT group_concat(n, ' ') = '{' '.join(map(str, values))}' FROM"
            f" (SELECT json_extract(args, '$.sharedMemBytes') AS n FROM calls WHERE name = '{name}' ORDER BY id)")


CASES = [
    Case("loop 200", CORE),
    Case("calls", CORE),
    Case("errors", CORE, holds=("SELECT count(*) >= 8 FROM calls WHERE failed",)),
    Case("props", "v6 v7 plt hard"),
    Case("kernels 30", CORE),
    Case("chain", CORE),
    Case("polls 300 2", SHAPES),
    Case("alike 20", SHAPES),
    Case("nested", CORE, holds=("SELECT count(*) >= 3 FROM calls WHERE parent_id IS NOT NULL",)),
    Case("stack_words 30", CORE, holds=(
        shared_bytes_are("hipLaunchKernel", range(1000, 1030)),
        shared_bytes_are("hipModuleLaunchKernel", range(2000, 2030)),
        "SELECT count(*) = 30 FROM calls WHERE name = 'hipMemcpy2D' AND json_extract(args, '$.kind') = "
        "'hipMemcpyHostToHost'",
        "SELECT count(*) = 3 AND min(n) = 30 FROM (SELECT count(*) AS n FROM calls WHERE name NOT LIKE 'hipStream%'"
        " AND json_extract(args, '$.stream') IS NOT NULL GROUP BY json_extract(args, '$.stream'))")),
    Case("every_function", "v5 v6 v7 plt stripped"),
    Case("hard_entries", "hard"),
    Case("pointers", "v6 v7 plt ifunc hard wheel"),
    Case("clients", "v6 v7 hard"),
    Case("rtc6", "v6 plt hard"),
    Case("rtc7", "v7"),
    Case("memory kinds", "v5 v6 v7 plt hard"),
    Case("memory bad_frees", SHAPES),
    Case("graph_memory nodes", "v6 v7 hard"),
    Case("graph_memory captured 3", "v6 v7"),
    Case("shared_memory ipc", "v6 v7"),
    Case("shared_memory external", "v5 v6"),
    # CUDA on ZLUDA on HIP
    Case("cuda work 20", "zluda zluda_folded"),
    Case("cuda gaps", "zluda zluda_folded"),
    Case("cuda fail", "zluda"),
    Case("every_function libcuda.so.1", "zluda zluda_folded"),
    # threads
    Case("threads 8 50", CORE),
    Case("threads 1000 2", SHAPES),
    # enough calls that what the scheduler of CPUs does at the start does not matter
    Case("bursts", SHAPES),
    Case("one_place", SHAPES),
    Case("compete 6 60000", SHAPES, holds=(
        "SELECT count(*) = 6 AND 10 * min(n) >= avg(n) FROM (SELECT count(*) AS n FROM calls WHERE name = 'hipMemcpy' "
        "GROUP BY thread_id)",)),
    Case("threads_churn 40", SHAPES),
    Case("leader_exits", SHAPES),
    Case("exit_from_thread", free=True, slack=5),
    Case("cancel", SHAPES, holds=(HAS_UNWOUND,)),
    Case("locks 50", SHAPES),
    # processes
    Case("fork 4", SHAPES),
    Case("fork_storm", SHAPES),
    Case("vfork", SHAPES, merged=True),
    Case("spawn", SHAPES),
    Case("spawn_storm 8 64 2", "v6", merged=True, holds=(
        "SELECT count(*) = 0 FROM lifecycle WHERE kind = 'unwatched'", "SELECT count(*) = 8 * 64 + 1 FROM processes")),
    Case("daemonize", SHAPES),
    Case("clone plain", SHAPES),
    Case("clone files"),
    Case("clone clone3", SHAPES),
    Case("clone vm", SHAPES, merged=True),
    Case("clone parent"),
    Case("exec leader {tracees}/loop 5", SHAPES),
    Case("exec thread {tracees}/loop 5", SHAPES),
    Case("exec thread {tracees}/plain busy", free=True, slack=1),
    Case("exec fail {tracees}/loop 5"),
    Case("exec leader {tracees}/plain 7"),
    Case("exec leader {tracees}/plain_static a"),
    Case("exec leader {tracees}/plain_32 a", needs="plain_32"),
    Case("exec thread {tracees}/plain_32 a", needs="plain_32"),
    Case("plain a b c"),
    Case("plain_static 7"),
    Case("plain_32 7", needs="plain_32"),
    # how it ends
    Case("exits code 0"),
    Case("exits code 113"),
    Case("exits _exit 9"),
    Case("exits segv"),
    Case("exits abort"),
    Case("exits ill"),
    Case("exits stack"),
    Case("exits kill 9"),
    Case("exits kill 15"),
    Case("exits kill 1"),
    Case("exits kill 34"),
    Case("environment"),
    Case("cpu 20"),
    # signals
    Case("signal_in_call", SHAPES, free=True),
    Case("signal_storm", SHAPES, free=True),
    Case("sigaltstack", SHAPES),
    Case("siglongjmp", SHAPES, holds=(HAS_UNWOUND,)),
    Case("sigtrap handler", SHAPES),
    Case("sigtrap default"),
    Case("sigtrap ignored"),
    Case("sigtrap late", SHAPES),
    Case("sigtrap ask"),
    Case("sigtrap vfork"),
    Case("sigtrap once"),
    Case("sigtrap spawn"),
    Case("sigtrap_blocked", SHAPES),
    Case("stop_cont"),
    Case("stop_threads", free=True),
    Case("eintr", SHAPES),
    # stacks that do not return in order
    Case("longjmp", SHAPES, holds=(HAS_UNWOUND, NO_OPEN_CALLS)),
    Case("exceptions", SHAPES, holds=(HAS_UNWOUND, NO_OPEN_CALLS)),
    Case("recursion 100", SHAPES, holds=(NO_OPEN_CALLS,)),
    Case("fibers", SHAPES),
    Case("generated", SHAPES),
    Case("stack_neighbours", SHAPES, holds=("SELECT count(*) = 20 FROM calls WHERE state = 'returned'",)),
    Case("fault_at_return", SHAPES, holds=("SELECT count(*) = 10 FROM calls WHERE state = 'returned'",)),
    Case("sandbox", SHAPES, holds=("SELECT count(*) = 3 FROM calls WHERE state = 'returned'",)),
    Case("stack_switch", SHAPES),
    # libraries
    Case("dlopen_loop libamdhip64.so 12", CORE),
    Case("dlopen_loop libamdhip64.so.6 250", "v6", holds=("SELECT count(*) = 0 FROM lifecycle WHERE kind = 'refused'",
         )),
    Case("dlopen_loop {wheel} 6"),
    Case("dlmopen libamdhip64.so", SHAPES),
    Case("two_copies {v6} {v7}"),
    Case("two_copies {v6} {wheel} {stripped}"),
    Case("two_copies {tracees}/decoy/libamdhip64.so {v7}"),
    Case("vanishing delete {v6}"),
    Case("vanishing memfd {v6}"),
    Case("decoy_user {tracees}/decoy/libamdhip64.so"),
    # arguments that nobody should trust
    Case("wild", SHAPES.replace("v5", "v7")),
    Case("strings", SHAPES),
]
