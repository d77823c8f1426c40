"""Activations of a model that is too large for the GPU."""
import faketorch


class Block(faketorch.nn.Module):
    def __init__(self):
        self.weight = faketorch.nn.Linear(64 << 20)

    def forward(self, batch):
        self.weight(batch)
        return faketorch.empty(2 << 30)  # the line to find


class Model(faketorch.nn.Module):
    def __init__(self, blocks):
        self.blocks = [Block() for _ in range(blocks)]

    def forward(self, batch):
        self.activations = [block(batch) for block in self.blocks]
        return self.activations[-1]


model = Model(12)
model(faketorch.zeros(4096))
