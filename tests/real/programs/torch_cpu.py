"""A PyTorch program that never asks for a device: threads, a training loop, and a DataLoader whose two workers are
forked.

    torch_cpu.py [STEPS]

Everything it prints follows from the seed. To standard error, what a user would look for: which build this is.
"""
import os
import sys
import threading

import torch
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(7)


class Squares(Dataset):
    """Each item says which process made it."""

    def __len__(self):
        return 32

    def __getitem__(self, i):
        return torch.tensor([float(i)]), torch.tensor([float(i * i)]), os.getpid()


def train(steps):
    loader = DataLoader(Squares(), batch_size=8, num_workers=2)
    model = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    makers = set()
    for step in range(steps):
        total = 0.0
        for x, y, made_by in loader:
            makers.update(made_by.tolist())
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x / 32), y / 1024)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"step {step} loss {total:.6f}")
    print(f"workers {len(makers)} in other processes {os.getpid() not in makers}")


def in_threads():
    """Python threads that all compute; results in the order of the threads."""
    out = [None] * 4

    def work(i):
        matrix = torch.full((64, 64), float(i + 1))
        out[i] = (matrix @ matrix).sum().item()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(out))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("threads", *out)


def main():
    torch.set_num_threads(2)
    print("available", torch.cuda.is_available(), "hip", torch.version.hip, "cuda", torch.version.cuda)
    in_threads()
    train(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    print(torch.__version__, file=sys.stderr)


if __name__ == "__main__":
    main()
