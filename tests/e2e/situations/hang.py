"""The GPU does not come back."""
import faketorch


class Trainer(faketorch.nn.Module):
    def __init__(self):
        self.batch = faketorch.zeros(4096)
        self.model = faketorch.nn.Linear(1 << 20)

    def forward(self, steps):
        for _ in range(steps):
            self.model(self.batch.copy_(bytes(4096)))
        faketorch.cuda.synchronize()  # the line to find


trainer = Trainer()
trainer(3)
