"""A training loop as Python programs drive HIP without a framework: ctypes, hiprtc, the module interface.

    train.py HIP_LIBRARY HIPRTC_LIBRARY CARD

Prints every call with its result and the counts at the end, like called.hpp does for the C++ programs.
"""
import collections
import ctypes
import sys

SOURCE = b"""extern "C" __global__ void step(float* weights, const float* gradients, float rate, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) weights[i] -= rate * gradients[i];
}
"""
N = 4096
STEPS = 5
made = collections.Counter()


class Library:
    """Calls are printed, counted, and never hidden behind an exception."""

    def __init__(self, name):
        self.library = ctypes.CDLL(name)

    def __call__(self, name, *arguments):
        result = getattr(self.library, name)(*arguments)
        made[name] += 1
        print(f"call {name} {result}")
        return result


def compiled(hiprtc, card):
    program = ctypes.c_void_p()
    size = ctypes.c_size_t()
    options = (ctypes.c_char_p * 1)(b"--offload-arch=" + card.encode())
    hiprtc("hiprtcCreateProgram", ctypes.byref(program), SOURCE, b"step.hip", 0, None, None)
    hiprtc("hiprtcCompileProgram", program, 1, options)
    hiprtc("hiprtcGetCodeSize", program, ctypes.byref(size))
    code = ctypes.create_string_buffer(max(size.value, 1))
    hiprtc("hiprtcGetCode", program, code)
    hiprtc("hiprtcDestroyProgram", ctypes.byref(program))
    return code


def allocated(hip, count):
    pointer = ctypes.c_void_p()
    hip("hipMalloc", ctypes.byref(pointer), ctypes.c_size_t(count * 4))
    return pointer


def train(hip, function):
    host = (ctypes.c_float * N)(*([1.0] * N))
    size = ctypes.c_size_t(ctypes.sizeof(host))
    weights, gradients = allocated(hip, N), allocated(hip, N)
    hip("hipMemcpy", weights, host, size, 1)
    rate, count = ctypes.c_float(0.1), ctypes.c_int(N)
    slots = [ctypes.cast(ctypes.byref(x), ctypes.c_void_p) for x in (weights, gradients, rate, count)]
    parameters = (ctypes.c_void_p * 4)(*slots)
    for _ in range(STEPS):
        hip("hipMemcpy", gradients, host, size, 1)
        if function:
            hip("hipModuleLaunchKernel", function, N // 256, 1, 1, 256, 1, 1, 0, None, parameters, None)
        hip("hipDeviceSynchronize")
    hip("hipMemcpy", host, weights, size, 2)
    hip("hipFree", weights)
    hip("hipFree", gradients)


def main(hip_name, hiprtc_name, card):
    hip = Library(hip_name)
    devices, cores = ctypes.c_int(-1), ctypes.c_int(-1)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    hip("hipGetDeviceCount", ctypes.byref(devices))
    hip("hipDeviceGetAttribute", ctypes.byref(cores), 63, 0)
    print(f"fact devices {devices.value} attribute multiProcessorCount {cores.value}")
    code = compiled(Library(hiprtc_name), card)
    if hip("hipModuleLoadData", ctypes.byref(module), code) == 0:
        hip("hipModuleGetFunction", ctypes.byref(function), module, b"step")
    train(hip, function)
    if module:
        hip("hipModuleUnload", module)
    for name in sorted(made):
        print(f"count {name} {made[name]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
