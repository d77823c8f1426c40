"""The GPU waits while the next batch is prepared."""
import time

import faketorch


def prepare(number):
    time.sleep(0.03)
    return number


model, batch = faketorch.nn.Linear(1 << 20), faketorch.empty(4096)
for number in range(60):
    prepare(number)
    model(batch)  # the line to find
    faketorch.cuda.synchronize()
batch.free()
