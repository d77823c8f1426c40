"""What recording costs an operator of PyTorch: the time of one that does little, alone or under fade-run -e ops.

usage: operators.py    prints the least, the 10th percentile and the median of 400 batches, in microseconds for one
operator
"""
import time

import torch

torch.set_num_threads(1)
tensor = torch.ones(4)


def batch(operators):
    begin = time.perf_counter()
    for _ in range(operators):
        tensor.zero_()
    return (time.perf_counter() - begin) / operators * 1e6


batch(200000)  # frequent functions are tapped by now
times = sorted(batch(500) for _ in range(400))
print("%.3f %.3f %.3f" % (times[0], times[40], times[200]))
