"""Recordings of a job of many ranks on many machines, written as fade writes them, with faults that are known.

Rank 9 is the straggler: from step 5 on its kernels take longer, because the clock of its GPU is low. Rank 20 comes
late once, in step 3, by work of its own outside of calls. The machine node6 has an older HIP library, an older kernel,
and GPUs with a lower clock, which its programs are told, too. Rank 5 fails first; the other ranks fail because of that.
The wall clocks of the machines differ, so that ranks of node2 and node7 seem to fail before rank 5.
"""
import json
import pathlib
import random
import shutil
import sqlite3
import subprocess

RANKS, PER_HOST, STEPS = 32, 4, 12
STRAGGLER, SLOW_FROM, LATE_ONCE, LATE_STEP, BAD_HOST, FIRST_TO_FAIL = 9, 5, 20, 3, 6, 5
BEGIN, MS, S = 1_700_000_000_000_000_000, 1_000_000, 1_000_000_000
CLOCKS = [
    0,
    180 * MS,
    -350 * MS,
    2_400 * MS,
    -20 * MS,
    900 * MS,
    5 * MS,
    -1_100 * MS,
]  # of the hosts: what they are ahead
FAILED_AT = 7 * S
KEPT = "meta_ doc_ topic_ result_rule_ gpu_ gpu_pci_ memory_kind_ signal_name_ signal_code_ call_cost_".split()
HIP, RCCL, TORCH = "/opt/rocm/lib/libamdhip64.so.6", "/opt/rocm/lib/librccl.so.1", "/venv/torch/lib/libtorch_hip.so"
FUNCTIONS = [
    # id, name, api, group, kind, library
    (1, "hipMalloc", "hip", "memory", "alloc", HIP),
    (2, "hipLaunchKernel", "hip", "launch", "launch", HIP),
    (3, "hipDeviceSynchronize", "hip", "sync", "sync", HIP),
    (4, "ncclCommInitRank", "rccl", "comm", "other", RCCL),
    (5, "ncclAllReduce", "rccl", "comm", "other", RCCL),
    (6, "hipGetDevicePropertiesR0600", "hip", "device", "device_query", HIP),
    (7, "hipExtLaunchKernel", "hip", "launch", "launch", HIP),
]
LAUNCHES, INSIDE = {2: 1, 7: 2}, {7: 5}  # the kernel of a launch; the function that calls another one
RESULTS = {
    1: "hipError_t",
    2: "hipError_t",
    3: "hipError_t",
    4: "ncclResult_t",
    5: "ncclResult_t",
    6: "hipError_t",
    7: "hipError_t",
}


def leb128(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def empty_recording(build, folder):
    """A recording without a session: what every file of fade has."""
    path = folder / "empty.db"
    subprocess.run(
        [build.fade_run, "-q", "--no-sensors", "--force", "-o", path, "--", "/bin/true"], check=True, cwd=folder
    )
    with sqlite3.connect(path) as file:
        for (table,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            if table not in KEPT and not table.startswith("sqlite_"):
                file.execute(f"DELETE FROM {table}")
        file.execute("DELETE FROM call_cost_")
    return path


class Rank:
    """What one rank did, at true times since the begin of the job in ns; written as times of its own session."""

    def __init__(self, file, rank, ranks, is_timed):
        self.file, self.rank, self.ranks, self.is_timed = file, rank, ranks, is_timed
        self.host, self.local = divmod(rank, PER_HOST)
        self.chance = random.Random(rank)
        self.begin_ns = BEGIN + (0 if is_timed else 3600 * S)  # each recording has a time of its own
        self.start = self.host * 30 * MS + self.local * 3 * MS  # ranks are not started at one moment
        self.calls, self.sums, self.gpu, self.use = 0, {}, {}, {}
        self.is_bad = self.host == BAD_HOST

    def add(self, table, *rows):
        self.file.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)

    def at(self, moment):
        return moment - self.start

    # ------------------------------------------------------------ the machine, its process and its libraries
    def describe(self, end, status):
        host, rank = self.host, self.rank
        clock = self.begin_ns + self.start + CLOCKS[host % len(CLOCKS)]
        kernel = "5.15.0-91-generic" if self.is_bad else "6.8.0-45-generic"
        self.file.execute(
            "INSERT INTO session_ (id, kind, start_ns, end_ns, boot_ns, host, kernel, boot_id, cwd, command,"
            " fade_version, options, detail, clean)"
            " VALUES (1, 'run', ?, ?, ?, ?, ?, ?, '/home/ada', 'python3 train.py', '0.1.0', '', 'calls', 1)",
            (clock, clock + self.at(end), clock - BEGIN + 77 * S, f"node{host}", kernel, f"boot-{host}"),
        )
        names = {"RANK": rank, "LOCAL_RANK": self.local, "WORLD_SIZE": self.ranks, "GROUP_RANK": host}
        env = json.dumps({name: str(value) for name, value in names.items()}, separators=(",", ":"))
        row = (1, 1, None, 4000 + rank, 3999, 1000, 99, 0, self.at(end), "/usr/bin/python3.11", "python3 train.py", env)
        self.add("process_", (*row, status, 0))
        self.add("thread_", (1, 1, 4000 + rank, "python3", 0, self.at(end)))
        hip = "6.2.41133" if self.is_bad else "6.4.43484"
        module = "INSERT INTO module_ (id, process, path, soname, build_id, role, version, base, size, sites, ts)"
        module += " VALUES (?, 1, ?, ?, ?, ?, ?, ?, 1, 0, 0)"
        self.file.execute(module, (1, "/usr/bin/python3.11", "", "aa11", "program", "", 1 << 20))
        self.file.execute(module, (2, HIP, "libamdhip64.so.6", "b62" if self.is_bad else "b64", "hip", hip, 1 << 40))
        self.file.execute(module, (3, RCCL, "librccl.so.1", "cc33", "", "2.22.3", 1 << 41))
        for number, name, api, group, kind, library in FUNCTIONS:
            self.file.execute(
                "INSERT INTO function_ (id, session, name, api, grp, kind, library, arg_names, result_type, success)"
                " VALUES (?, 1, ?, ?, ?, ?, ?, '', ?, 0)",
                (number, name, api, group, kind, library, RESULTS[number]),
            )
        self.add("call_site_", (1, 1, TORCH, 4096, "at::cuda::launch+0x10", 1 << 42))

    def describe_device(self):
        arch, memory = "gfx942", 206_141_652_992
        mhz = 1900 if self.is_bad else 2100
        pci = f"0000:{0x10 + self.local:02x}:00.0"
        self.add("device_", (1, 1, self.local, "AMD Instinct MI300X", arch, pci, None, memory))
        told = {
            "multiProcessorCount": 304,
            "clockRate": mhz * 1000,
            "totalGlobalMem": memory,
            "warpSize": 64,
            "gcnArchName": arch,
        }
        source = "api:hipGetDevicePropertiesR0600"
        self.add(
            "device_prop_",
            *((i, 1, name, str(value), source, 1, 250 * MS) for i, (name, value) in enumerate(told.items(), 1)),
        )
        self.add("kfd_topology_", (1, "/sys", None))
        node = (
            1,
            1,
            self.local + 2,
            1,
            "gfx942",
            None,
            arch,
            pci,
            None,
            18467,
            0,
            1216,
            4,
            304,
            64,
            4098,
            0x74A1,
            0,
            memory,
            8192,
            1300,
            mhz,
            8,
            128,
        )
        self.add("kfd_node_", node)
        for second in range(8):
            slow = self.rank == STRAGGLER and second >= 2
            clock = 1_300 if slow else mhz - 20
            figures = (
                97.0,
                99,
                40.0,
                45,
                3e10,
                30_000_000_000,
                1e8,
                100_000_000,
                5e8,
                600_000_000,
                60_000.0,
                96_000 if slow else 71_000,
            )
            row = (
                1,
                second * S,
                S,
                self.local + 2,
                10,
                0,
                *figures,
                clock * 1e6,
                clock * 1_000_000,
                1.3e9,
                1_300_000_000,
            )
            self.add("gpu_sample_", row)

    def describe_kernels(self):
        kernels = [(1, "gemm", "gemm(float*, int)", TORCH), (2, "ncclDevKernel_AllReduce", None, RCCL)]
        for number, name, demangled, library in kernels:
            row = (number, name, demangled, library)
            self.file.execute(
                "INSERT INTO kernel_ (id, session, name, demangled, library, first_call) VALUES (?, 1, ?, ?, ?, 4)", row
            )
            self.add("launch_", (number, number, number, 1, 0))
        self.add("geometry_", (1, 304, 1, 1, 256, 1, 1, 0), (2, 32, 1, 1, 512, 1, 1, 0))
        self.file.execute("INSERT INTO stream_ (id, process, handle, device, ts, launches) VALUES (1, 1, 0, 1, 0, 24)")
        if self.is_timed:
            self.add(
                "gpu_kernel_",
                *((number, 1, 0x1000 * number, name, demangled, number) for number, name, demangled, _ in kernels),
            )

    # ------------------------------------------------------------ calls and work
    def call(self, function, at, duration, result=None, args=None, step=None):
        """Returns the call's id."""
        self.calls += 1
        up = 1 if function in INSIDE else None
        self.add("call_", (self.at(at), duration, 1, function, 1, up, result, LAUNCHES.get(function), self.calls))
        if args:
            self.add("arg_", (self.calls, json.dumps(args, separators=(",", ":"))))
        one = self.sums.setdefault(function, [0, 0, 0, duration, duration, {}, at, at])
        one[0], one[1], one[2] = one[0] + 1, one[1] + (result is not None), one[2] + duration
        one[3], one[4], one[7] = min(one[3], duration), max(one[4], duration), at
        used = self.use.setdefault(self.at(at) // S, [0, 0, 0, None, None])
        used[0], used[1] = used[0] + 1, used[1] + (result is not None)
        if function in LAUNCHES:
            used[2], used[3], used[4] = used[2] + 1, used[3] or self.at(at), self.at(at)
        if step is not None:
            done = step.setdefault(function, [0, 0, 0])
            done[0], done[1], done[2] = done[0] + 1, done[1] + (result is not None), done[2] + duration
        return self.calls

    def work(self, kernel, call, at, duration):
        if not self.is_timed:
            return
        number = self.file.execute("SELECT count(*) + 1 FROM gpu_work_").fetchone()[0]
        self.add("gpu_work_", (number, 1, 0, kernel, 1, 0, 1, call, 1, self.at(at), duration, None))
        one = self.gpu.setdefault(kernel, [0, 0, duration, duration, self.at(at), self.at(at)])
        one[0], one[1], one[2], one[3], one[5] = (
            one[0] + 1,
            one[1] + duration,
            min(one[2], duration),
            max(one[3], duration),
            self.at(at),
        )

    def begin(self):
        self.call(6, self.start + 200 * MS, 90_000)
        self.call(4, self.start + 300 * MS, 5 * MS, args={"comm": "0x10", "nranks": self.ranks, "rank": self.rank})
        memory = self.call(
            1, self.start + 350 * MS, 150_000, args={"ptr": "0x7f0000001000", "size": (self.rank + 1) << 20}
        )
        held, at = (self.rank + 1) << 20, self.at(self.start + 350 * MS)
        self.add("alloc_", (1, 0, 1, 0x7F0000001000, held, at, None, memory, None, 1, 1))
        self.add("mem_bucket_", (350, 1, 0, held, held, 1, 0))
        self.add("mem_stat_", (1, 0, held, held, at, 1, 0, held, 0))
        self.add("mem_holder_", (1, 0, "*", held, held, at, 1, 0, held), (1, 0, TORCH, held, held, at, 1, 0, held))

    def step(self, number, begin, outside, gemm, end):
        """The GPU computes, then all ranks reduce; the reduction ends when the last rank has come to it."""
        done, jitter = {}, self.chance.randrange(-5_000, 5_000)
        launch = self.call(2, begin + outside + 10 * MS, 20_000, step=done)
        self.work(1, launch, begin + outside + 11 * MS, gemm)
        ready = begin + outside + 11 * MS + gemm
        self.call(5, begin + outside + 12 * MS, 40_000, args={"count": 8, "comm": "0x10"}, step=done)
        inside = self.call(7, begin + outside + 12 * MS + 10_000, 20_000, step=done)
        self.work(2, inside, ready, end - ready + jitter)
        wait = end - (begin + outside + 13 * MS) + 30_000
        last = self.call(3, begin + outside + 13 * MS, wait, step=done)
        duration = end + 2 * MS - begin
        done[5][2] -= done[7][2]  # of the step only self times are known
        in_calls = sum(one[2] for one in done.values())
        row = (
            number,
            1,
            1,
            number,
            "train_step",
            self.at(begin),
            duration,
            1,
            launch - 1,
            last + 1,
            4,
            0,
            2,
            0,
            0,
            0,
            in_calls,
            wait,
        )
        self.add("step_", row)
        self.add("step_stat_", *((number, function, *sums) for function, sums in done.items()))
        if self.is_timed:
            self.add(
                "gpu_step_",
                (number, 2, end - begin - outside - 11 * MS + jitter, end - begin - outside - 11 * MS + jitter),
            )

    def fail(self, at):
        """The first failure is of a kernel; the others follow from it, in the reduction."""
        function, code, name = (
            (3, 700, "hipErrorIllegalAddress") if self.rank == FIRST_TO_FAIL else (5, 1, "ncclUnhandledCudaError")
        )
        call = self.call(function, at - MS, MS, result=code)
        self.add("result_name_", (function, code, name, 1))
        self.add("error_", (1, call, self.at(at - MS), self.at(at - MS), 1, function, 1, code, name, None, 1))

    def finish(self):
        for function, (n, errors, total, least, most, _, first, last) in self.sums.items():
            own = total - sum(self.sums[inner][2] for inner, outer in INSIDE.items() if outer == function)
            hist = bytes([20]) + leb128(n) + bytes([23]) + leb128(50 * self.rank)  # some numbers take two bytes
            self.add(
                "call_stat_",
                (1, function, INSIDE.get(function, 0), n, errors, total, own, least, most, hist, 0, 0, 0, 0),
            )
            self.add("caller_stat_", (1, RCCL if function in INSIDE else TORCH, function, n, errors, total, own))
            if function in LAUNCHES:
                self.add(
                    "kernel_stat_",
                    (LAUNCHES[function], LAUNCHES[function], n, errors, total, most, self.at(first), self.at(last)),
                )
        for kernel, (n, total, least, most, first, last) in self.gpu.items():
            self.add("gpu_stat_", (1, "kernel", kernel, 1, n, total, least, most, 0, first, last, bytes([25, n])))
        self.add(
            "process_use_",
            *(
                (1, second, n, errors, launches, 0, first, last)
                for second, (n, errors, launches, first, last) in self.use.items()
            ),
        )
        wait = self.sums[3]
        self.add("wait_", (1, 3, 1, wait[0], wait[2], wait[4], self.calls))


def plan(ranks):
    """For each step its begin, and for each rank the time outside of calls and of its kernel, and the end of all."""
    out = []
    for number in range(1, STEPS + 1):
        begin, outside, gemm = S + (number - 1) * 450 * MS, [], []
        for rank in range(ranks):
            outside.append(160 * MS if (rank, number) == (LATE_ONCE, LATE_STEP) else (rank % 3) * 100_000)
            slow = rank == STRAGGLER and number >= SLOW_FROM
            gemm.append(320 * MS if slow else 210 * MS if rank // PER_HOST == BAD_HOST else 200 * MS)
        end = begin + max(a + b for a, b in zip(outside, gemm)) + 12 * MS
        out.append((number, begin, outside, gemm, end))
    return out


def make_job(build, folder: pathlib.Path, ranks=RANKS, is_timed=True, fails=True):
    """Returns the paths of the recordings, one of each rank."""
    empty, steps, paths = empty_recording(build, folder), plan(ranks), []
    for number in range(ranks):
        path = folder / f"rank-{number:02}.db"
        shutil.copy(empty, path)
        with sqlite3.connect(path) as file:
            rank = Rank(file, number, ranks, is_timed)
            is_first = number == FIRST_TO_FAIL
            failed = FAILED_AT if is_first else FAILED_AT + 200 * MS + number * MS
            rank.describe(failed + 50 * MS if fails else 8 * S, 1 if fails else 0)
            rank.describe_device(), rank.describe_kernels(), rank.begin()
            for step, begin, outside, gemm, end in steps:
                rank.step(step, begin, outside[number], gemm[number], end)
            if fails:
                rank.fail(failed)
            rank.finish()
            file.execute("UPDATE session_ SET last_call = ?", (rank.calls,))
        paths.append(path)
    return paths
