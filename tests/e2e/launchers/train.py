"""One rank of a job: four steps of a copy and a reduction, which the last rank enters last. FAILING_RANK ends early.

The stand-in libraries have no network, so ranks meet in files: each appends a byte, and waits for the
bytes of the others."""
import ctypes
import os
import sys
import time

STEPS = 4


def variable(*names):
    return int(next(os.environ[name] for name in names if name in os.environ))


RANK = variable("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")
WORLD = variable("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS")


def size_of(file):
    return os.fstat(file).st_size


def meet(place, count=WORLD):
    """Waits until `count` ranks of this run have come. An earlier run in the same folder left whole rounds."""
    file = os.open(f"meeting-{place}", os.O_CREAT | os.O_RDWR | os.O_APPEND)
    os.write(file, b".")
    this_round = (os.lseek(file, 0, os.SEEK_CUR) - 1) // WORLD
    while size_of(file) < this_round * WORLD + count:
        time.sleep(0.001)
    os.close(file)


class Id(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


def communicator(rccl):
    handle = ctypes.c_void_p()
    rccl.ncclCommInitRank.argtypes = [ctypes.c_void_p, ctypes.c_int, Id, ctypes.c_int]
    rccl.ncclAllReduce.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    assert rccl.ncclCommInitRank(ctypes.byref(handle), WORLD, Id(), RANK) == 0
    return handle


def main():
    hip, rccl = ctypes.CDLL("libamdhip64.so.6"), ctypes.CDLL("librccl.so.1")
    handle, memory = communicator(rccl), ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(4 << 20)) == 0
    for step in range(STEPS):
        hip.hipMemcpy(memory, bytes(64), ctypes.c_size_t(64), 1)
        meet(f"begin-{step}")
        if RANK == WORLD - 1:
            meet(f"slow-{step}")
            time.sleep(0.05)  # behind the others, however busy the machine is
        assert rccl.ncclAllReduce(memory, memory, 1024, 7, 0, handle, None) == 0
        if RANK != WORLD - 1:
            meet(f"slow-{step}", 1)
        hip.hipDeviceSynchronize()
    if str(RANK) == os.environ.get("FAILING_RANK"):
        hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 60))
        sys.exit(3)


main()
