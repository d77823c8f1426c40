"""A rank that uses torch.distributed itself (gloo, on the CPU) beside calls of HIP: sums up all ranks' numbers."""
import ctypes
import os

import torch
import torch.distributed

torch.distributed.init_process_group("gloo")
rank, world = torch.distributed.get_rank(), torch.distributed.get_world_size()
hip, memory = ctypes.CDLL("libamdhip64.so.6"), ctypes.c_void_p()
numbers = torch.full((16,), float(rank + 1))
for _ in range(rank + 1):
    assert hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(64)) == 0
    assert hip.hipMemcpy(memory, ctypes.c_void_p(numbers.data_ptr()), ctypes.c_size_t(64), 1) == 0
torch.distributed.all_reduce(numbers)
assert numbers.tolist() == [world * (world + 1) / 2] * 16
print(f"rank {os.environ['RANK']} done", flush=True)
torch.distributed.destroy_process_group()
