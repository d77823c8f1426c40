"""Steps of torch.profiler, with ranges of record_function inside."""
import torch

cpu = torch.profiler.ProfilerActivity.CPU
with torch.profiler.profile(activities=[cpu], schedule=torch.profiler.schedule(wait=1, warmup=1, active=2)) as profile:
    for _ in range(4):
        with torch.profiler.record_function("forward"):
            with torch.profiler.record_function("inner"):
                torch.ones(3).sum()
        profile.step()
print("done")
