"""Calls of libraries above HIP, by ctypes.

    library_calls.py blas|ones|fallback|fft|dnn|refused|comm|ranks

Each library writes its own log.
"""
import ctypes
import os
import subprocess
import sys
import time

hip = ctypes.CDLL("libamdhip64.so.7")
Pointer, Long = ctypes.c_void_p, ctypes.c_size_t
ONE, TWO = ctypes.c_float(1), (ctypes.c_double * 2)(1, 0)
N, T, C = 111, 112, 113  # operations of rocBLAS and hipBLAS
F16, F32 = 150, 151  # types of rocBLAS


def must(result):
    assert result == 0, result


def memory(size=1 << 22):
    out = Pointer()
    must(hip.hipMalloc(ctypes.byref(out), Long(size)))
    return out


def made(make, *more):
    """An object that a function gives through its first parameter."""
    out = Pointer()
    must(make(ctypes.byref(out), *more))
    return out


def blas():
    rocblas, hipblas = ctypes.CDLL("librocblas.so.5"), ctypes.CDLL("libhipblas.so.3")
    one, two, (a, b, c) = ctypes.byref(ONE), ctypes.byref(TWO), (memory() for _ in range(3))
    handle, other = made(rocblas.rocblas_create_handle), made(hipblas.hipblasCreate)
    for _ in range(3):
        must(rocblas.rocblas_sgemm(handle, N, T, 128, 64, 32, one, a, 130, b, 66, one, c, 131))
    stride = ctypes.c_int64(4096)
    must(
        rocblas.rocblas_zgemm_strided_batched(
            handle, N, C, 16, 8, 4, two, a, 16, stride, b, 8, stride, two, c, 16, stride, 10
        )
    )
    ex = (a, F16, 256, b, F16, 256, one, c, F16, 64, c, F16, 64, F32, 0, 0, 0)
    must(rocblas.rocblas_gemm_ex(handle, T, N, 64, 48, 256, one, *ex))
    must(hipblas.hipblasSgemm(other, N, N, 96, 80, 72, one, a, 96, b, 72, one, c, 96))
    assert rocblas.rocblas_sgemm(handle, N, N, -1, 1, 1, one, a, 1, b, 1, one, c, 1) != 0


def ones():
    """A product of matrices of ones. The simulated card computes nothing, so the result stays as it was."""
    rocblas, count = ctypes.CDLL("librocblas.so.5"), 64 * 64
    numbers = (ctypes.c_float * count)(*[1] * count)
    a, b, c = (made(hip.hipHostMalloc, Long(4 * count), 0) for _ in range(3))  # copies to the card move nothing
    for at in (a, b, c):
        ctypes.memmove(at, numbers, 4 * count)
    zero = ctypes.byref(ctypes.c_float(0))
    handle = made(rocblas.rocblas_create_handle)
    for _ in range(3):
        must(rocblas.rocblas_sgemm(handle, N, N, 64, 48, 32, ctypes.byref(ONE), a, 64, b, 32, zero, c, 64))


def fallback():
    """hipBLASLt has no kernel for numbers of 8 bits on this card, so hipBLAS multiplies numbers of 16 bits."""
    light, hipblas = ctypes.CDLL("libhipblaslt.so.1"), ctypes.CDLL("libhipblas.so.3")
    f8, f16, f32, in_f32 = 28, 2, 0, 2
    handle, other = made(light.hipblasLtCreate), made(hipblas.hipblasCreate)
    matmul = made(light.hipblasLtMatmulDescCreate, in_f32, f32)
    big, layout = ctypes.c_uint64, light.hipblasLtMatrixLayoutCreate
    layouts = [
        made(layout, type_, big(rows), big(cols), ctypes.c_int64(rows))
        for type_, rows, cols in ((f8, 128, 32), (f8, 32, 64), (f16, 128, 64), (f16, 128, 64))
    ]
    preference = made(light.hipblasLtMatmulPreferenceCreate)
    results, found = ctypes.create_string_buffer(4096), ctypes.c_int(-1)
    ask = light.hipblasLtMatmulAlgoGetHeuristic
    result = ask(handle, matmul, *layouts, preference, 1, results, ctypes.byref(found))
    print("found", result, found.value)
    a, b, c, one = memory(), memory(), memory(), ctypes.byref(ONE)
    must(hipblas.hipblasGemmEx(other, N, N, 128, 64, 32, one, a, f16, 128, b, f16, 32, one, c, f16, 128, in_f32, 160))


def fft():
    rocfft, hipfft = ctypes.CDLL("librocfft.so.0"), ctypes.CDLL("libhipfft.so.0")
    data = memory()
    buffers = (Pointer * 1)(data)
    must(rocfft.rocfft_setup())
    plane = made(rocfft.rocfft_plan_create, 0, 0, 0, Long(2), (Long * 2)(32, 64), Long(3), None)
    for _ in range(3):
        must(rocfft.rocfft_execute(plane, buffers, None, None))
    line, real = made(hipfft.hipfftPlan1d, 1024, 0x29, 4), made(hipfft.hipfftPlan2d, 48, 100, 0x2A)
    must(hipfft.hipfftExecC2C(line, data, data, 1))
    must(hipfft.hipfftExecR2C(real, data, memory()))


def tensor(miopen, *sizes):
    out = made(miopen.miopenCreateTensorDescriptor)
    must(miopen.miopenSet4dTensorDescriptor(out, 1, *sizes))
    return out


class Solution(ctypes.Structure):
    _fields_ = [("time", ctypes.c_float), ("workspace", Long), ("id", ctypes.c_uint64), ("algorithm", ctypes.c_int)]


def dnn():
    miopen = ctypes.CDLL("libMIOpen.so.1")
    handle = made(miopen.miopenCreate)
    x, w, y = tensor(miopen, 2, 8, 10, 10), tensor(miopen, 4, 4, 3, 3), tensor(miopen, 2, 4, 5, 5)
    conv = made(miopen.miopenCreateConvolutionDescriptor)
    must(miopen.miopenInitConvolutionDescriptor(conv, 0, 1, 1, 2, 2, 1, 1))
    must(miopen.miopenSetConvolutionGroupCount(conv, 2))
    a, b, c, none = memory(), memory(), memory(), Long(0)
    naive = [ctypes.c_uint64(number) for number in (85, 86, 87)]  # direct convolutions, the simplest of all
    for _ in range(2):
        must(miopen.miopenConvolutionForwardImmediate(handle, w, b, x, a, conv, y, c, None, none, naive[0]))
    perf, found, bools = ctypes.create_string_buffer(64), ctypes.c_int(), ctypes.c_bool
    find = (w, b, conv, y, c, 1, ctypes.byref(found), perf, None, none, bools(False))
    must(miopen.miopenFindConvolutionForwardAlgorithm(handle, x, a, *find))
    one, zero, direct = ctypes.byref(ONE), ctypes.byref(ctypes.c_float(0)), 1
    must(miopen.miopenConvolutionForward(handle, one, x, a, w, b, conv, direct, zero, y, c, None, none))
    must(miopen.miopenConvolutionBackwardDataImmediate(handle, y, c, w, b, conv, x, a, None, none, naive[1]))
    must(miopen.miopenConvolutionBackwardWeightsImmediate(handle, y, c, x, a, conv, w, b, None, none, naive[2]))


def refused():
    """A solution that MIOpen does not have, then one that it has."""
    miopen = ctypes.CDLL("libMIOpen.so.1")
    handle, conv = made(miopen.miopenCreate), made(miopen.miopenCreateConvolutionDescriptor)
    x, w, y = tensor(miopen, 2, 8, 10, 10), tensor(miopen, 4, 4, 3, 3), tensor(miopen, 2, 4, 5, 5)
    must(miopen.miopenInitConvolutionDescriptor(conv, 0, 1, 1, 2, 2, 1, 1))
    must(miopen.miopenSetConvolutionGroupCount(conv, 2))
    a, b, c = memory(), memory(), memory()
    results = [
        miopen.miopenConvolutionForwardImmediate(
            handle, w, b, x, a, conv, y, c, None, Long(0), ctypes.c_uint64(number)
        )
        for number in (60000, 85, 85)
    ]
    assert results[0] != 0 and results[1:] == [0, 0], results


class Name(ctypes.Structure):
    _fields_ = [("internal", ctypes.c_char * 128)]


def comm():
    rccl = ctypes.CDLL("librccl.so.1")
    name, send, receive, stream = Name(), memory(), memory(), made(hip.hipStreamCreate)
    must(rccl.ncclGetUniqueId(ctypes.byref(name)))
    rccl.ncclCommInitRank.argtypes = [Pointer, ctypes.c_int, Name, ctypes.c_int]
    one = made(rccl.ncclCommInitRank, 1, name, 0)
    for _ in range(3):
        must(rccl.ncclAllReduce(send, receive, Long(1 << 18), 7, 0, one, stream))
    must(rccl.ncclAllGather(send, receive, Long(1000), 6, one, stream))
    must(rccl.ncclCommDestroy(one))


def rank():
    """One of two. The simulated card moves no data, for which an orderly end would wait. So the end is an abort."""
    rccl, name = ctypes.CDLL("librccl.so.1"), Name()
    number, pipe = int(os.environ["RANK"]), int(os.environ["NAME_PIPE"])
    if number == 0:
        must(rccl.ncclGetUniqueId(ctypes.byref(name)))
        os.write(pipe, bytes(name))
    else:
        ctypes.memmove(ctypes.byref(name), os.read(pipe, ctypes.sizeof(name)), ctypes.sizeof(name))
    send, receive, stream = memory(), memory(), made(hip.hipStreamCreate)
    rccl.ncclCommInitRank.argtypes = [Pointer, ctypes.c_int, Name, ctypes.c_int]
    one = made(rccl.ncclCommInitRank, 2, name, number)
    time.sleep(4 * number)  # the second rank is late
    for _ in range(3):
        must(rccl.ncclAllReduce(send, receive, Long(1 << 18), 7, 0, one, stream))
    must(rccl.ncclAllGather(send, receive, Long(1000), 6, one, stream))
    must(rccl.ncclBroadcast(send, receive, Long(500), 7, 0, one, stream))
    must(rccl.ncclReduceScatter(send, receive, Long(300), 8, 0, one, stream))
    must(hip.hipStreamSynchronize(stream))
    must(rccl.ncclCommAbort(one))


def ranks():
    """Two processes, each with a card of its own, as a launcher starts them."""
    words = open("/proc/self/cmdline").read().split("\0")[:-2]  # with the loader, without "ranks"
    ends, topology = os.pipe(), os.environ["HSA_MODEL_TOPOLOGY"]

    def start(number):
        own = {"RANK": number, "LOCAL_RANK": number, "WORLD_SIZE": 2, "NAME_PIPE": ends[1 - number]}
        own["HSA_MODEL_TOPOLOGY"] = f"{topology}-1" if number else topology
        variables = {**os.environ, **{name: str(value) for name, value in own.items()}}
        return subprocess.Popen([*words, "rank"], env=variables, pass_fds=ends)

    assert [child.wait() for child in [start(0), start(1)]] == [0, 0]


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    must(hip.hipDeviceSynchronize())
    print("done")
