"""One step of thirty waits for a file."""
import time

import faketorch


def read_batch(number):
    if number == 17:
        time.sleep(0.3)
    return bytes(4096)


model, batch = faketorch.nn.Linear(1 << 20), faketorch.empty(4096)
for number in range(30):
    with faketorch.optim.Step(f"train_step {number}"):
        data = read_batch(number)
        batch.copy_(data)  # the line to find
        model(batch)
        faketorch.cuda.synchronize()
batch.free()
