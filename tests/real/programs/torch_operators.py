"""Steps of a small model under torch.profiler, which prints how often it saw each operator, and with which
shapes.

The two calls of torch.trace are marks: what lies between them is compared.
"""
import json

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(4)
        self.layers = torch.nn.Sequential(torch.nn.Linear(256, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))

    def forward(self, x):
        return self.layers(torch.relu(self.norm(self.convolution(x))).flatten(1))


def main(steps=5):
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
    images, labels = torch.randn(2, 3, 8, 8), torch.tensor([1, 7])

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    step()
    square = torch.eye(3)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_flops=True
    ) as profile:
        torch.trace(square)
        for _ in range(steps):
            step()
        torch.trace(square)
    counts = {row.key: row.count for row in profile.key_averages() if row.key.startswith("aten::")}
    print("profiled", json.dumps(counts, sort_keys=True))
    rows = profile.key_averages(group_by_input_shape=True)
    shapes = sorted([row.key, row.input_shapes, row.count, row.flops] for row in rows if row.key.startswith("aten::"))
    print("shapes", json.dumps(shapes))


main()
