"""A small training, two steps of which are recorded with everything on: train.py DIR"""
import gc
import sys

import torch
from ascope.torch import mstx, profiler


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(8, 8), torch.nn.Linear(8, 3)

    def forward(self, x):
        return self.outer(self.inner(x).relu())


def main(directory):
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(6, 8), torch.randint(0, 3, (6,)))
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    settings = profiler._ExperimentalConfig(
        profiler_level=profiler.ProfilerLevel.Level1, aic_metrics=profiler.AiCMetrics.PipeUtilization, mstx=True, l2_cache=True,
        gc_detect_threshold=0, export_type=["text", "db"])
    with profiler.profile(schedule=profiler.schedule(wait=0, warmup=1, active=2, repeat=1), record_shapes=True, profile_memory=True,
                          with_stack=True, with_modules=True, experimental_config=settings,
                          on_trace_ready=profiler.tensorboard_trace_handler(directory, "own", analyse_flag=False)) as prof:
        prof.add_metadata("what", "a small training")
        for x, y in torch.utils.data.DataLoader(data, batch_size=2):
            mark = mstx.range_start("learn", domain="train")
            loss = torch.nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            mstx.range_end(mark, domain="train")
            mstx.mark("loss %.3f" % loss.item())
            gc.collect(0)
            prof.step()


if __name__ == "__main__":
    main(sys.argv[1])
