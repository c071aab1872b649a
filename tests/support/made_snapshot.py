# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots as PyTorch writes them, of a made allocator and a made training: with faults whose line and bytes are known."""
import pickle
import random

MIB = 1 << 20
TORCH = "/venv/lib/python3.12/site-packages/torch/"
LOOP = ("<module>", "/home/user/train.py", 15)


def frames(*places):
    return [{"name": name, "filename": file, "line": line} for name, file, line in places]


FORWARD = [("forward", TORCH + "nn/modules/linear.py", 134), ("_call_impl", TORCH + "nn/modules/module.py", 1790)]
OPTIMIZER = [("_init_group", TORCH + "optim/adam.py", 182), ("step", TORCH + "optim/adam.py", 238)]
ZERO_GRAD = [("zero_grad", TORCH + "optim/optimizer.py", 1066)]
MODULE = [("_apply", TORCH + "nn/modules/module.py", 965)]


class OutOfMemory(Exception):
    pass


class Allocator:
    """Best fit in segments of 2 MiB for small blocks and of 20 MiB or more for others, as the caching allocator does it."""
    def __init__(self, limit=None, device=0):
        self.segments, self.trace, self.marks = [], [], []
        self.limit, self.device, self.time, self.base = limit, device, 1795009955000000, 1 << 40
        self.stacks = {}

    def stack(self, places):
        return self.stacks.setdefault(tuple(places), frames(*places))

    def event(self, action, address, size, places):
        self.time += 7
        self.trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time,
                           "compile_context": "N/A", "user_metadata": "", "frames": self.stack(places)})

    def mark(self, name, stage="END"):
        self.time += 5
        self.marks.append({"stage": stage, "name": name, "device": self.device, "time_us": self.time})

    def reserved(self):
        return sum(s["total"] for s in self.segments)

    def alloc(self, size, *places):
        rounded = max(512, (size + 511) // 512 * 512)
        small = rounded <= MIB
        fits = [(b["size"], s["address"], i, s) for s in self.segments if s["small"] == small
                for i, b in enumerate(s["blocks"]) if b["frames"] is None and b["size"] >= rounded]
        if not fits:
            total = 2 * MIB if small else 20 * MIB if rounded < 10 * MIB else (rounded + 2 * MIB - 1) // (2 * MIB) * (2 * MIB)
            if self.limit and self.reserved() + total > self.limit:
                self.event("oom", 0, rounded, places)
                self.trace[-1]["device_free"] = self.limit - self.reserved()
                del self.trace[-1]["addr"]
                raise OutOfMemory
            self.base += 1 << 30
            segment = {"address": self.base, "total": total, "small": small,
                       "blocks": [{"address": self.base, "size": total, "requested": 0, "frames": None}]}
            self.segments.append(segment)
            self.event("segment_alloc", self.base, total, places)
            fits = [(total, self.base, 0, segment)]
        _, _, i, segment = min(fits, key=lambda f: f[:3])
        block, left = segment["blocks"][i], segment["blocks"][i]["size"] - rounded
        if left >= 512 if small else left > MIB:
            segment["blocks"].insert(i + 1, {"address": block["address"] + rounded, "size": left, "requested": 0, "frames": None})
            block["size"] = rounded
        block["requested"], block["frames"] = size, self.stack(places)
        self.event("alloc", block["address"], size, places)
        return block["address"]

    def free(self, address, *places):
        segment = next(s for s in self.segments if s["address"] <= address < s["address"] + s["total"])
        i = next(i for i, b in enumerate(segment["blocks"]) if b["address"] == address)
        blocks, size = segment["blocks"], segment["blocks"][i]["requested"]
        self.event("free_requested", address, size, places)
        self.event("free_completed", address, size, places)
        blocks[i]["frames"], blocks[i]["requested"] = None, 0
        for k in (i, i - 1):
            if 0 <= k and k + 1 < len(blocks) and blocks[k]["frames"] is None and blocks[k + 1]["frames"] is None:
                blocks[k]["size"] += blocks.pop(k + 1)["size"]

    def snapshot(self, ring=None):
        segments = []
        for s in sorted(self.segments, key=lambda s: s["address"]):
            used = [b for b in s["blocks"] if b["frames"] is not None]
            segments.append({
                "device": self.device, "address": s["address"], "total_size": s["total"], "allocated_size": sum(b["size"] for b in used),
                "active_size": sum(b["size"] for b in used), "requested_size": sum(b["requested"] for b in used), "stream": 0,
                "segment_type": "small" if s["small"] else "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
                "blocks": [{"address": b["address"], "size": b["size"], "requested_size": b["requested"] or b["size"],
                            "state": "inactive" if b["frames"] is None else "active_allocated", "frames": b["frames"] or []}
                           for b in s["blocks"]]})
        traces = [[] for _ in range(self.device)] + [self.trace[-ring:] if ring else self.trace]
        return {"segments": segments, "device_traces": traces, "allocator_settings": {"expandable_segments": False},
                "external_annotations": self.marks}


class Training:
    """Parameters, a step of forward, backward and optimizer; `fault` runs at the end of each step."""
    def __init__(self, seed=0, layers=4, limit=None, has_marks=True, lengths=(32, 32)):
        self.random, self.a, self.has_marks, self.lengths = random.Random(seed), Allocator(limit), has_marks, lengths
        self.sizes = [self.random.randint(1, 8) * 128 << 10 for _ in range(layers)]
        self.gradients = []
        for size in self.sizes:
            self.a.alloc(size, *MODULE, ("build", "/home/user/model.py", 5))
        self.step_number, self.kept = 0, []

    def alloc(self, size, line, *inner):
        return self.a.alloc(size, *inner, ("<module>", "/home/user/train.py", line))

    def step(self):
        a, n = self.a, self.random.randint(*self.lengths)
        for g in self.gradients:
            a.free(g, *ZERO_GRAD, LOOP)
        activations = [a.alloc(n * (4096 << k % 2), *FORWARD, LOOP) for k in range(len(self.sizes))]
        loss = a.alloc(512, LOOP)
        self.gradients = []
        for size, activation in reversed(list(zip(self.sizes, activations))):
            temporary = self.backward(n * 4096)
            self.gradients.append(self.backward(size))
            a.free(temporary)
            a.free(activation)
        a.free(loss, LOOP)
        if self.step_number == 0:
            for size in self.sizes:
                a.alloc(size, *OPTIMIZER, LOOP)
                a.alloc(size, *OPTIMIZER, LOOP)
        if self.has_marks:
            a.mark("Optimizer.step#AdamW.step", "START")
            a.mark("Optimizer.step#AdamW.step")
        self.step_number += 1

    def backward(self, size):
        """In a thread of the backward pass: without frames."""
        return self.a.alloc(size)

    def run(self, steps, fault=None):
        try:
            for i in range(steps):
                self.step()
                if fault:
                    fault(self, i)
        except OutOfMemory:
            pass
        return self.a


def write(path, snapshot, protocol=4):
    with open(path, "wb") as f:
        f.write(pickle.dumps(snapshot, protocol))
