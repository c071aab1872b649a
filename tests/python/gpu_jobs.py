# SPDX-License-Identifier: Apache-2.0
"""Jobs for a GPU, each recorded by ascope, by torch.profiler or by nobody, for test_gpu.py: gpu_jobs.py JOB ascope|torch|none OUT

Steps are the same in every run of a job, so that what two profilers recorded of two runs can be compared.
"""
import sys

import torch

STEPS = 20


def linear():
    """Bound by launches: layers, a backward pass, SGD."""
    layers = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(20)]).cuda()
    optimizer = torch.optim.SGD(layers.parameters(), lr=1e-3)
    batch = torch.randn(64, 256, device="cuda")

    def step():
        optimizer.zero_grad()
        layers(batch).sum().backward()
        optimizer.step()
    return step


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 10000

    def __getitem__(self, i):
        return torch.full((32,), i % 1000)


def transformer():
    """Mixed precision, batches of forked workers, copies from pinned memory, and a captured graph."""
    embedding = torch.nn.Embedding(1000, 128).cuda()
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).cuda()
    optimizer = torch.optim.AdamW([*embedding.parameters(), *model.parameters()], lr=1e-4)
    batches = iter(torch.utils.data.DataLoader(Rows(), batch_size=16, num_workers=2, pin_memory=True))
    still = torch.ones(256, 256, device="cuda")
    for _ in range(3):  # what a capture must not do for the first time
        (still @ still).relu()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (still @ still).relu().sum()

    def step():
        ids = next(batches).to("cuda", non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(embedding(ids)).float().square().mean()
        loss.backward()
        optimizer.step()
        graph.replay()
    return step


def compiled():
    """torch.compile, and a second stream."""
    layers = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.Linear(256, 256)).cuda()
    fast = torch.compile(layers)
    optimizer = torch.optim.SGD(layers.parameters(), lr=1e-3)
    batch, beside, other = torch.randn(64, 256, device="cuda"), torch.randn(64, 256, device="cuda"), torch.cuda.Stream()

    def step():
        optimizer.zero_grad()
        fast(batch).sum().backward()
        optimizer.step()
        with torch.cuda.stream(other):
            beside.mul_(1.0001)
    return step


JOBS = {job.__name__: job for job in (linear, transformer, compiled)}


def main(job, whose, out):
    torch.manual_seed(1)
    step = JOBS[job]()
    for _ in range(3):  # libraries choose and load their kernels, PyTorch's allocator its blocks
        step()
    torch.cuda.synchronize()

    def train():
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()

    if whose == "ascope":
        from ascope.torch import profiler
        both = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]
        config = profiler._ExperimentalConfig(export_type=["text", "db"])
        with profiler.profile(activities=both, experimental_config=config, on_trace_ready=profiler.tensorboard_trace_handler(out)):
            train()
    elif whose == "torch":
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
            train()
        prof.export_chrome_trace(out)
    else:
        train()


if __name__ == "__main__":
    main(*sys.argv[1:])
