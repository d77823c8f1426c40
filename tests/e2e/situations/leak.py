"""Every third step keeps an activation that nothing needs any more."""
import faketorch


class Trainer(faketorch.nn.Module):
    def __init__(self):
        self.model = faketorch.nn.Linear(64 << 20)
        self.kept = []

    def forward(self, batch):
        return self.model(batch)

    def debug(self, step):
        if step % 3 == 0:
            self.kept.append(faketorch.empty(3 << 20))  # the line to find


trainer = Trainer()
batch = faketorch.zeros(4096)
for number in range(30):
    with faketorch.optim.Step(f"train_step {number}"):
        trainer(batch)
        trainer.debug(number)
        faketorch.cuda.synchronize()
batch.free()
