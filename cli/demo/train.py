#!/usr/bin/env python3
"""A training loop in plain Python that drives HIP through ctypes, to be watched by fade.

It fits y = w x + b. Every step copies a batch to the device, launches three kernels and reads the loss back, as a
framework does; the numbers themselves are computed on the CPU, because the bundled runtime has no GPU. HIP_LIBRARY
names another libamdhip64 to use.
"""
import ctypes
import os
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


class Hip:
    """The calls that the loop needs; every failure becomes an exception."""

    def __init__(self, library):
        self.lib = ctypes.CDLL(library)
        self.lib.hipGetErrorString.restype = ctypes.c_char_p

    def __getattr__(self, name):
        function = getattr(self.lib, name)

        def checked(*arguments):
            error = function(*arguments)
            if error:
                raise RuntimeError(f"{name}: {self.lib.hipGetErrorString(error).decode()}")

        return checked

    def device_name(self, device):
        text = ctypes.create_string_buffer(256)
        self.hipDeviceGetName(text, 256, device)
        return text.value.decode()

    def multiprocessors(self, device):
        value = ctypes.c_int()
        self.hipDeviceGetAttribute(ctypes.byref(value), 63, device)
        return value.value

    def malloc(self, size):
        pointer = ctypes.c_void_p()
        self.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def copy(self, to, source, size, kind):
        self.hipMemcpy(to, source, ctypes.c_size_t(size), kind)


class Kernels:
    """A module's kernels by name; calling one launches it."""

    def __init__(self, hip, names):
        self.hip = hip
        self.module = ctypes.c_void_p()
        hip.hipModuleLoadData(ctypes.byref(self.module), b"code object")
        self.functions = {name: self.function(name) for name in names}

    def function(self, name):
        pointer = ctypes.c_void_p()
        self.hip.hipModuleGetFunction(ctypes.byref(pointer), self.module, name.encode())
        return pointer

    def launch(self, name, blocks, threads, stream):
        self.hip.hipModuleLaunchKernel(self.functions[name], blocks, 1, 1, threads, 1, 1, 0, stream, None, None)


class Model:
    def __init__(self):
        self.w, self.b = 0.0, 0.0

    def step(self, batch, rate=0.1):
        errors = [self.w * x + self.b - y for x, y in batch]
        self.w -= rate * 2 * sum(e * x for e, (x, _) in zip(errors, batch)) / len(batch)
        self.b -= rate * 2 * sum(errors) / len(batch)
        return sum(e * e for e in errors) / len(batch)


def train(hip, steps=60, batch_size=64):
    random.seed(7)
    kernels = Kernels(hip, ["linear_forward", "linear_backward", "sgd_step"])
    stream = ctypes.c_void_p()
    hip.hipStreamCreate(ctypes.byref(stream))
    size = batch_size * 8
    device_batch, device_loss = hip.malloc(size), hip.malloc(8)
    model = Model()
    for step in range(1, steps + 1):
        batch = [(x, 3 * x + 1 + random.gauss(0, 0.05)) for x in (random.uniform(-1, 1) for _ in range(batch_size))]
        host = (ctypes.c_float * (2 * batch_size))(*(value for pair in batch for value in pair))
        hip.copy(device_batch, host, size, HOST_TO_DEVICE)
        for name in kernels.functions:
            kernels.launch(name, 4, 64, stream)
        hip.hipStreamSynchronize(stream)
        hip.copy(ctypes.byref(ctypes.c_double()), device_loss, 8, DEVICE_TO_HOST)
        loss = model.step(batch)
        if step % 10 == 0:
            print(f"step {step:3}  loss {loss:.4f}")
    for buffer in (device_batch, device_loss):
        hip.hipFree(buffer)
    hip.hipStreamDestroy(stream)
    return model


def main():
    hip = Hip(os.environ.get("HIP_LIBRARY", str(HERE / "libamdhip64.so.6")))
    print(f"training on {hip.device_name(0)}, {hip.multiprocessors(0)} multiprocessors")
    model = train(hip)
    print(f"y = {model.w:.2f} x + {model.b:.2f}")


if __name__ == "__main__":
    try:
        main()
    except (OSError, RuntimeError) as error:
        sys.exit(f"train.py: {error}")
