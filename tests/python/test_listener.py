# SPDX-License-Identifier: Apache-2.0
"""What is recorded of PyTorch is what PyTorch does: compared with its own profiler, its allocator, and what the loop is known to do."""

import collections
import csv
import itertools
import os
import re
import subprocess
import sys
import threading

import pytest

torch = pytest.importorskip("torch")

import torch.utils.checkpoint  # pylint: disable=wrong-import-position

import recorded  # pylint: disable=wrong-import-position

CPU = [torch.profiler.ProfilerActivity.CPU]
HAS_TYPES = torch.__version__.startswith("1.")  # whether PyTorch's own profiler names the types of what it shows


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.linear = torch.nn.Linear(4 * 6 * 6, 5)

    def forward(self, x):
        x = torch.nn.functional.relu(self.norm(self.convolution(x)))
        return torch.nn.functional.log_softmax(self.linear(x.flatten(1)), dim=1)


class Loop:
    """A training loop that does the same every time."""

    def __init__(self):
        torch.manual_seed(1)
        self.net = Net()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        self.x = torch.randn(2, 3, 8, 8)
        self.y = torch.tensor([1, 3])
        self.step()  # what happens once only

    def step(self):
        self.optimizer.zero_grad()
        with torch.profiler.record_function("forward"):
            loss = torch.nn.functional.nll_loss(self.net(self.x), self.y)
        loss.backward()
        self.optimizer.step()
        both = torch.cat([self.x.half(), self.x.to(torch.float16)]).sum(dtype=torch.float64)
        return loss.item() + both.item()


def tree_of(operators):
    """(depth, name, shapes) in the order of their begin, for each thread."""
    rows, open_ones = [], collections.defaultdict(list)
    for begin, end, thread, name, shapes in operators:
        stack = open_ones[thread]
        while stack and stack[-1] < end:
            stack.pop()
        rows.append((len(stack), name, shapes))
        stack.append(end)
    return rows


def recorded_tree(session):
    return tree_of((op.begin, op.end, op.thread, op.name, op.shapes) for op in session.operators())


def profiler_events(profile):
    """(depth, event) of PyTorch's own profiler, by the tree that it keeps itself: events() has only microseconds."""
    rows = []

    def walk(events, depth):
        for event in sorted(events, key=lambda event: event.start_time_ns):
            rows.append((depth, event))
            walk(event.children, depth + 1)

    walk(profile.profiler.kineto_results.experimental_event_tree(), 0)
    return rows


def shapes_text(event):
    inputs = event.extra_fields.inputs
    if hasattr(inputs, "shapes"):  # PyTorch 1
        sizes = inputs.shapes
    else:  # tensors, lists of them, numbers
        sizes = [getattr(value, "sizes", []) for value in inputs]
    return ";".join(",".join(map(str, shape)) for shape in sizes)


def profiler_tree(profile):
    return [(depth, event.name, shapes_text(event)) for depth, event in profiler_events(profile)
            if str(event.tag).endswith("TorchOp")]


def session_names(session):
    return [op.name for op in session.operators()]


def test_the_tree_is_the_one_of_torch_profiler():
    loop = Loop()
    with torch.profiler.profile(activities=CPU, record_shapes=True) as profile:
        for _ in range(3):
            loop.step()
    with recorded.session(record_shapes=True) as session:
        for _ in range(3):
            loop.step()
    ours = recorded_tree(session)
    assert len(ours) > 300
    assert ours == profiler_tree(profile)


class Attention(Loop):
    """Attention, an embedding, dropout, a norm; Adam."""

    def __init__(self):
        torch.manual_seed(1)
        self.embedding = torch.nn.Embedding(11, 8)
        self.layer = torch.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        self.optimizer = torch.optim.Adam([*self.embedding.parameters(), *self.layer.parameters()])
        self.words = torch.arange(10).reshape(2, 5)
        self.step()

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.layer(self.embedding(self.words)).square().mean()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            return self.layer(self.embedding(self.words)).argmax().item()


class Mixed(Loop):
    """bfloat16 where it is allowed, parts of the forward pass run again in the backward pass, clipped gradients."""

    def step(self):
        self.optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = torch.utils.checkpoint.checkpoint(lambda x: self.net.norm(self.net.convolution(x)), self.x.requires_grad_())
            loss = torch.nn.functional.nll_loss(torch.log_softmax(self.net.linear(x.flatten(1)), 1).float(), self.y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.optimizer.step()


class Deep(torch.autograd.Function):
    """Its backward pass runs a backward pass of its own, and so on. From the 60th on PyTorch takes other threads for them."""

    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        if ctx.depth > 0:
            with torch.enable_grad():
                y = Deep.apply(grad.detach().requires_grad_(), ctx.depth - 1).sum()
            y.backward()
        return grad * 2, None


class Forks(Loop):
    """Work in the thread of PyTorch's own pool. A result is there a moment before the operator that made it has ended; so the last piece
    of each step does nothing but wait for the others, and is not counted."""

    LAST = {"<forked function>", "aten::neg"}

    def __init__(self):
        torch.set_num_interop_threads(1)

        @torch.jit.script
        def part(x):
            return torch.mm(x, x.t()).relu()

        @torch.jit.script
        def last(x):
            return x.neg()

        @torch.jit.script
        def parts(x):
            return torch.jit.fork(part, x * 2), torch.jit.fork(part, x * 3), torch.jit.fork(last, x)

        self.parts, self.x = parts, torch.ones(3, 4)
        for _ in range(4):  # what is compiled on the way
            self.step()

    def step(self):
        for part in self.parts(self.x):
            part.wait()


def roots_of(rows):
    """How often there is which whole tree, of rows (depth, ...) in the order of their begin."""
    roots = []
    for row in rows:
        if row[0] == 0:
            roots.append([])
        roots[-1].append(row)
    return collections.Counter(tuple(rows) for rows in roots if not {row[1] for row in rows} <= Forks.LAST)


def tensors_alone(name, shapes):
    """PyTorch 2 shows the numbers among the inputs of Python's autograd functions to its own profiler, and to no other observer."""
    return shapes if "::" in name else ";".join(filter(None, shapes.split(";")))


def recorded_types(types):
    """PyTorch's own profiler does not name all."""
    return tuple("" if name in ("ScalarList", "None") else name for name in types)


def rows_of_profiler(profile):
    """(depth, name, shapes, scope, types) of all threads."""
    return [(depth, event.name, tensors_alone(event.name, shapes_text(event)), event.extra_fields.scope.value,
             tuple(getattr(event.extra_fields.inputs, "dtypes", ())) if HAS_TYPES else ())
            for depth, event in profiler_events(profile) if str(event.tag).endswith("TorchOp")]


def rows_of_session(session):
    """The same by thread."""
    by_thread = collections.defaultdict(list)
    for op in session.operators():
        types = recorded_types(op.types.split(";")) if HAS_TYPES and op.types else ()
        by_thread[op.thread].append((op.begin, op.end, op.thread, op.name,
                                     (tensors_alone(op.name, op.shapes), op.scope, types)))
    return {thread: [(depth, name) + more for depth, name, more in tree_of(rows)] for thread, rows in by_thread.items()}


def pairs_of(rows):
    """How often there is which row inside which other; what runs a backward operator counts as the outermost."""
    pairs, around = collections.Counter(), []
    for row in rows:
        del around[row[0]:]
        pairs[row[1:], around[-1] if around and "evaluate_function" not in row[1] else None] += 1
        around.append(row[1])
    return pairs


@pytest.mark.parametrize("kind", [Loop, Attention, Mixed, Forks])
def test_every_tree_is_one_of_torch_profiler(kind):
    """Names, nesting, counts, shapes, types and scopes, in all threads."""
    loop = kind()
    with torch.profiler.profile(activities=CPU, record_shapes=True) as profile:
        for _ in range(2):
            loop.step()
    with recorded.session(record_shapes=True) as session:
        for _ in range(2):
            loop.step()
    theirs, ours = rows_of_profiler(profile), rows_of_session(session)
    assert sum(map(roots_of, ours.values()), collections.Counter()) == roots_of(theirs)
    assert (len(ours) > 1) == (kind is Forks)


def test_backward_passes_in_other_threads_have_their_operators():
    """PyTorch's own profiler draws such a pass inside the one that waits for it: what is compared is who is around whom."""
    first, second = (torch.ones(2, requires_grad=True) for _ in range(2))
    with torch.profiler.profile(activities=CPU, record_shapes=True) as profile:
        Deep.apply(first, 70).sum().backward()
    with recorded.session(record_shapes=True) as session:
        Deep.apply(second, 70).sum().backward()
    theirs, ours = rows_of_profiler(profile), rows_of_session(session)
    assert len(ours) == 2
    assert sum(map(pairs_of, ours.values()), collections.Counter()) == pairs_of(theirs)
    assert sum(row[1] == "DeepBackward" for rows in ours.values() for row in rows) == 71


def test_numbers_tie_the_passes_together_as_with_torch_profiler():
    loop = Attention()
    with torch.profiler.profile(activities=CPU) as profile:
        loop.step()
    with recorded.session() as session:
        loop.step()

    def from_the_first(numbers):
        first = min(number for number in numbers if number >= 0)
        return [number - first if number >= 0 else -1 for number in numbers]

    # PyTorch's profiler has more on what surrounds a backward operator than PyTorch reports to others.
    theirs = [event.extra_fields.sequence_number for _, event in profiler_events(profile)
              if str(event.tag).endswith("TorchOp") and "evaluate_function" not in event.name]
    ours = [op.sequence for op in session.operators() if "evaluate_function" not in op.name]
    assert from_the_first(ours) == from_the_first(theirs) and len(set(ours)) > 40


def test_without_shapes_the_tree_is_the_same_and_has_none():
    loop = Loop()
    with recorded.session(record_shapes=True) as with_shapes:
        loop.step()
    with recorded.session() as without:
        loop.step()
    assert [row[:2] for row in recorded_tree(with_shapes)] == [row[:2] for row in recorded_tree(without)]
    assert {(op.types, op.shapes, op.tensors, op.lists, op.scalars) for op in without.operators()} == {("",) * 5}


def test_types_are_those_of_cpp():
    with recorded.session(record_shapes=True) as session:
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int8,
                      torch.uint8, torch.bool):
            torch.empty(2, dtype=dtype).clone()
        torch.cat([torch.ones(1), torch.ones(1)])
    types = [op.types.split(";")[0] for op in session.operators() if op.name == "aten::clone"]
    assert types == ["float", "double", "c10::Half", "c10::BFloat16", "long int", "int", "signed char", "unsigned char", "bool"]
    assert [op.types for op in session.operators() if op.name == "aten::cat"] == ["TensorList;Scalar"]


@pytest.mark.parametrize("options", ({}, {"profile_memory": True, "with_stack": True}, {"profile_memory": True}))
def test_operators_that_come_again_have_their_own_types_and_shapes(options):
    """From the second time on they are numbers: none may be taken for another, in any recording."""
    kinds = {torch.float32: "float", torch.float64: "double", torch.int64: "long int"}
    shapes = [(), (1,), (2,), (2, 1), (1, 2), (2, 3), (3, 2), (1, 1, 2), (0, 5), (123456, 1), (1,) * 12, (1,) * 40]
    tensors = [torch.ones(shape, dtype=kind) for shape in shapes for kind in kinds]
    for turn in range(2):
        with recorded.session(record_shapes=True, **options) as session:
            for _ in range(4):
                for tensor in tensors if turn == 0 else reversed(tensors):
                    torch.neg(tensor)
                    torch.broadcast_tensors(tensor, tensor)
        one = {",".join(map(str, shape)) for shape in shapes}
        for name in ("aten::neg", "aten::broadcast_tensors"):
            found = collections.Counter((op.types, op.shapes) for op in session.operators() if op.name == name)
            wanted = itertools.product(kinds.values(), one) if name == "aten::neg" else [("TensorList", "")]
            assert found == {key: 4 * (1 if name == "aten::neg" else len(tensors)) for key in wanted}


@pytest.mark.parametrize("options", ({}, {"record_shapes": True}, {"with_stack": True}))
def test_names_that_lie_at_one_address_stay_apart(options):
    """Autograd's names are in its own memory, at the same address for each of its functions."""
    x = torch.ones(3, requires_grad=True)
    kinds = ("sin", "cos", "exp", "tan", "abs", "neg")
    with recorded.session(**options) as session:
        for turn in range(6):
            y = x
            for i in range(len(kinds)):
                y = getattr(torch, kinds[(i + turn) % len(kinds)])(y)
            y.sum().backward()
    found = collections.Counter(op.name for op in session.operators() if op.scope == 1)
    assert {kind: found[f"{kind.capitalize()}Backward0"] for kind in kinds} == dict.fromkeys(kinds, 6)


def test_tensors_are_recorded_with_memory_and_stacks_only():
    x = torch.ones(4, 6)[:, ::2]
    with recorded.session(record_shapes=True, profile_memory=True, with_stack=True) as session:
        y = x.mul(2.5)
        torch.cat([x, y])
    (mul,) = [op for op in session.operators() if op.name == "aten::mul"]
    assert mul.scalars == ""  # a number becomes a tensor on its way
    first, second = mul.tensors.split(")")
    assert first == f"{first.split(';')[0]};{x.storage().data_ptr():#x};float;4;4,3;6,2;0;-1"
    assert second.split(";")[2:] == ["double", "8", "", "", "0", "-1"]
    (cat,) = [op for op in session.operators() if op.name == "aten::cat"]
    assert cat.tensors == ""
    assert [text.split(";")[4] for text in cat.lists.split(")") if text] == ["4,3", "4,3"]
    assert cat.lists.endswith(")")
    with recorded.session(record_shapes=True, profile_memory=True) as session:
        x.mul(2.5)
    assert {op.tensors for op in session.operators()} == {""}


def test_backward_belongs_to_forward():
    loop = Loop()
    with recorded.session() as session:
        loop.step()
    operators = session.operators()
    backward = {op.sequence: op for op in operators if op.scope == 1 and op.sequence >= 0}
    forward = collections.defaultdict(list)
    for op in operators:
        if op.scope == 0 and op.sequence >= 0:
            forward[op.sequence].append(op.name)
    assert len(backward) >= 6
    for sequence, op in backward.items():
        assert op.forward_thread == 1
        assert forward[sequence], op.name
    assert any("aten::addmm" in forward[n] for n, op in backward.items() if op.name == "AddmmBackward0")
    assert {op.forward_thread for op in operators if op.scope == 0} == {0}


def test_ranges_of_the_user_have_their_scope():
    with recorded.session() as session:
        with torch.profiler.record_function("outer"):
            with torch.profiler.record_function("mein Bereich äöü"):
                torch.ones(1)
    scopes = {op.name: op.scope for op in session.operators()}
    assert scopes["outer"] == scopes["mein Bereich äöü"] == 7
    outer, inner = (next(op for op in session.operators() if op.name == name) for name in ("outer", "mein Bereich äöü"))
    assert outer.begin <= inner.begin and inner.end <= outer.end


def test_an_operator_that_fails_ends_all_the_same():
    with recorded.session(record_shapes=True, profile_memory=True) as session:
        with pytest.raises(RuntimeError):
            torch.mm(torch.ones(2, 3), torch.ones(2, 3))
        torch.ones(3)
    names = session_names(session)
    assert names.count("aten::mm") == 1
    assert names[-3:] == ["aten::ones", "aten::empty", "aten::fill_"]


def test_memory_balances():
    kept = []
    with recorded.session(profile_memory=True) as session:
        for n in range(20):
            kept.append(torch.empty(1000 + n))
            torch.empty(5000)
        del kept[:5]
    blocks = [block for block in session.memory() if block.device_type == 0]
    alive = sum(block.size for block in blocks)
    assert alive == sum(tensor.numel() * 4 for tensor in kept)
    assert blocks[-1].allocated - (blocks[0].allocated - blocks[0].size) == alive
    assert {(block.device, block.component, block.kind, block.allocator, block.stream, block.active) for block in blocks} == \
        {(-1, 0, 0, 0, 0, 0)}
    running = blocks[0].allocated - blocks[0].size
    for block in blocks:
        running += block.size
        assert block.allocated == running


def taken_and_kept(blocks):
    """Of (pointer, size): how large the blocks are that were taken, and what is left of them in the end. Blocks of before are left out:
    whether the end of one is reported depends on the listeners at its begin."""
    alive, taken = {}, collections.Counter()
    for pointer, size in blocks:
        if size > 0:
            taken[size] += 1
            alive[pointer] = size
        else:
            alive.pop(pointer, 0)
    return taken, sum(alive.values())


def test_memory_is_what_torch_profiler_reports():
    loop = Loop()
    loop.step()
    with torch.profiler.profile(activities=CPU, profile_memory=True) as profile:
        loop.step()
    with recorded.session(profile_memory=True) as session:
        loop.step()
    theirs = [(event.extra_fields.ptr, event.extra_fields.alloc_size) for _, event in profiler_events(profile)
              if str(event.tag).endswith("Allocation")]
    assert taken_and_kept((block.pointer, block.size) for block in session.memory()) == taken_and_kept(theirs)


def kept_by(blocks):
    """What is left at the end: {pointer: bytes}. A block is never taken twice, nor given back in another size."""
    alive = {}
    for block in blocks:
        if block.size > 0:
            assert block.pointer not in alive
            alive[block.pointer] = block.size
        else:
            assert alive.pop(block.pointer, -block.size) == -block.size
    return alive


@pytest.mark.parametrize("device", ["none", "sim"])
def test_memory_of_a_training_balances_with_its_tensors(device):
    """Forward, backward and the optimizer's first step, in this thread and in others: what is left are the gradients, what the
    optimizer keeps, and what the threads have kept, to the byte."""
    nets = [torch.nn.Linear(30 + n, 7) for n in range(3)]
    optimizers = [torch.optim.Adam(net.parameters(), lr=0.1) for net in nets]
    inputs = [torch.randn(5, 30 + n) for n in range(3)]

    def learn(net, optimizer, x):
        net(x).square().mean().backward()
        optimizer.step()

    def work(*task):
        recorded.listener.ascope_torch_enable_thread(False, True, False, False, False)
        learn(*task)
        recorded.listener.ascope_torch_disable_thread()

    options = {"activities": "CPU,NPU", "device": "sim"} if device == "sim" else {}
    with recorded.session(profile_memory=True, **options) as session:
        tasks = list(zip(nets, optimizers, inputs))
        learn(*tasks[0])
        threads = [threading.Thread(target=work, args=task) for task in tasks[1:]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        Deep.apply(torch.ones(2, requires_grad=True), 70).sum().backward()
    held = {}
    for net, optimizer in zip(nets, optimizers):
        for parameter in net.parameters():
            for tensor in (parameter.grad, *optimizer.state[parameter].values()):
                held[tensor.storage().data_ptr()] = tensor.storage().nbytes()
    blocks = session.memory()
    for kind in ({0}, {20})[:1 + (device == "sim")]:
        ours = [block for block in blocks if block.device_type in kind and block.kind != 2]  # 2: not used any more, still there
        assert kept_by(ours) == held
        first, last = ours[0], max(ours, key=lambda block: block.time)
        assert last.allocated - (first.allocated - first.size) == sum(held.values()) == sum(block.size for block in ours)


def test_memory_is_not_recorded_unasked():
    with recorded.session() as session:
        torch.ones(1000)
    assert session.memory() == []


def test_nothing_listens_between_sessions():
    assert not torch.autograd._profiler_enabled()
    with recorded.session(profile_memory=True):
        torch.ones(1)
        assert not torch.autograd._profiler_enabled()  # PyTorch's own is not at work
    with torch.profiler.profile(activities=CPU, profile_memory=True) as profile:  # refused if ours were still there
        torch.ones(1)
    assert any(event.name == "aten::ones" for event in profile.events())


def test_child_threads_ask_for_themselves():
    def work(is_enabled):
        if is_enabled:
            recorded.listener.ascope_torch_enable_thread(True, True, False, False, False)
        torch.full((7,), 1.0)
        if is_enabled:
            recorded.listener.ascope_torch_disable_thread()
            torch.full((9,), 1.0)

    with recorded.session() as session:
        for is_enabled in (False, True):
            thread = threading.Thread(target=work, args=(is_enabled,))
            thread.start()
            thread.join()
        torch.full((3,), 1.0)
    full = [op for op in session.operators() if op.name == "aten::full"]
    assert len(full) == 2
    assert full[0].thread != full[1].thread


def test_child_processes_record_nothing_and_the_parent_goes_on():
    data = torch.utils.data.TensorDataset(torch.arange(32.0))
    with recorded.session(profile_memory=True, record_shapes=True) as session:
        batches = [batch[0].sum().item() for batch in torch.utils.data.DataLoader(data, batch_size=8, num_workers=2)]
    assert sum(batches) == 496.0
    assert {op.process for op in session.operators()} == {os.getpid()}
    assert session_names(session).count("aten::item") >= 4


def test_a_fork_in_the_middle_changes_nothing():
    with recorded.session(profile_memory=True, activities="CPU,NPU", device="sim") as session:
        torch.ones(4)
        child = os.fork()
        if child == 0:
            os._exit(0 if torch.ones(4).sum().item() == 4.0 else 1)
        assert os.waitpid(child, 0)[1] == 0
        torch.ones(4)
    assert session_names(session).count("aten::ones") == 2


def analysed(session):
    if not (recorded.BUILD / "ascope").exists():
        pytest.skip("there is no program to analyse with")
    subprocess.run([str(recorded.BUILD / "ascope"), "analyse", str(session.path)], check=True, stdout=subprocess.DEVNULL)
    return session.path / "ASCEND_PROFILER_OUTPUT"


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_operators_are_in_the_tables():
    loop = Loop()
    with recorded.session(record_shapes=True, activities="CPU,NPU", device="sim", profile_memory=True) as session:
        loop.step()
    rows = rows_of(analysed(session) / "operator_details.csv")
    names = collections.Counter(row["Name"] for row in rows)
    assert names == collections.Counter(session_names(session))


def test_kernels_are_what_was_launched():
    loop = Loop()
    with recorded.session(record_shapes=True, activities="CPU,NPU", device="sim", profile_memory=True,
                          profiler_level="Level1") as session:
        loop.step()
    points = session.queue()
    by_kind = {kind: [point for point in points if point.kind == kind] for kind in range(4)}
    assert len({len(of_kind) for of_kind in by_kind.values()}) == 1
    assert [point.id for point in by_kind[1]] == [point.id for point in by_kind[2]] == [point.id for point in by_kind[3]]
    launched = collections.Counter(point.name for point in by_kind[1])
    kernels = rows_of(analysed(session) / "kernel_details.csv")
    assert collections.Counter(row["Type"] for row in kernels) == \
        collections.Counter({name: n for name, n in launched.items() if not name.startswith("acl_memcpy")})
    for wanted in ("Conv2D", "BatchNorm", "Relu", "MatMulV3", "LogSoftmaxV2", "NLLLoss", "NLLLossGrad", "Conv2DBackpropInput", "Cast"):
        assert launched[wanted] > 0, wanted
    assert launched["acl_memcpy_device_to_host"] == 2
    assert not [name for name in launched if name in ("AsStrided", "View", "Transpose", "Expand", "Empty", "Detach")]
    (matmul,) = [row for row in kernels if row["Type"] == "MatMulV3" and row["Output Shapes"].strip('"') == "2,5"]
    assert matmul["Input Shapes"].strip('"') == "5;2,144;144,5"
    assert matmul["Input Data Types"].split(";")[0] == "FLOAT"


def test_kernels_belong_to_their_operators():
    with recorded.session(activities="CPU,NPU", device="sim", record_shapes=True) as session:
        torch.nn.functional.linear(torch.ones(8, 8), torch.ones(8, 8), torch.ones(8))
    rows = {row["Name"]: row for row in rows_of(analysed(session) / "operator_details.csv")}
    assert float(rows["aten::addmm"]["Device Self Duration(us)"]) > 0
    assert float(rows["aten::linear"]["Device Self Duration(us)"]) == 0
    assert float(rows["aten::linear"]["Device Total Duration(us)"]) > 0


def test_memory_of_the_simulated_device_has_totals():
    with recorded.session(activities="CPU,NPU", device="sim", profile_memory=True) as session:
        torch.ones(1000)
    device = [block for block in session.memory() if block.device_type == 20]
    host = [block for block in session.memory() if block.device_type == 0]
    assert [block.kind for block in device] == [0, 2, 1]
    assert [block.size for block in device] == [4000, -4000, -4000]
    assert sum(block.size for block in host) == 0
    assert device[0].allocated == device[0].active and device[0].reserved >= device[0].allocated
    rows = rows_of(analysed(session) / "operator_memory.csv")
    assert [float(row["Size(KB)"]) for row in rows] == [4000 / 1024]


def test_only_the_device_can_be_recorded():
    with recorded.session(activities="NPU", device="sim") as session:
        torch.ones(10).mul(3)
    assert session.operators() == []
    assert len(rows_of(analysed(session) / "kernel_details.csv")) == 2


def test_collectives_are_on_the_simulated_device():
    """Of one rank, which is enough to hear PyTorch's backend; test_distributed.py has two."""
    dist = torch.distributed
    if not dist.is_available() or not dist.is_gloo_available():
        pytest.skip("this PyTorch has no gloo")
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        part = dist.new_group([0])
        with recorded.session(activities="CPU,NPU", device="sim", profiler_level="Level1") as session:
            dist.all_reduce(torch.ones(4))
            assert recorded.listener.ascope_torch_group(b"part", 0, 1, -1)
            dist.broadcast(torch.ones(4), 0, group=part)
            assert recorded.listener.ascope_torch_group(None, 0, 0, -1)
            assert not recorded.listener.ascope_torch_group(None, 0, 0, -1)  # there is none any more
            with torch.autograd.profiler.record_function("gloo:reduce"):  # a name of the user's
                pass
    finally:
        dist.destroy_process_group()
    names = [point.name for point in session.queue() if point.kind == 0]
    assert [name for name in names if name == "wait_event" or name.startswith("Hccl")] == [
        "HcclAllReduce", "wait_event", "HcclBroadcast", "wait_event"]
    texts = b"".join(path.read_bytes() for path in session.path.glob("PROF*/host/data/*hash_dic*"))
    assert b":default_group\n" in texts and b":part\n" in texts


def flops_of(session):
    data = b"".join(path.read_bytes() for path in session.path.glob("PROF*/host/data/*msproftx*"))
    return set(re.findall(rb"\d+-[a-z_][a-z_0-9]+", data))


def test_flops_are_marked():
    wanted = {"activities": "CPU,NPU", "with_flops": True}
    with recorded.session(mstx=True, **wanted) as session:
        torch.nn.functional.linear(torch.ones(5, 3), torch.ones(4, 3), torch.ones(4))
        torch.nn.functional.conv2d(torch.ones(1, 2, 6, 6), torch.ones(3, 2, 3, 3), padding=1)
        if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
            torch.nn.functional.scaled_dot_product_attention(torch.ones(2, 3, 4, 8), torch.ones(2, 3, 5, 8), torch.ones(2, 3, 5, 6))
    assert flops_of(session) - {b"3360-scaled_dot_product_attention"} == {b"120-linear", b"3888-conv2d"}
    with recorded.session(mstx=False, **wanted) as session:
        torch.mm(torch.ones(2, 3), torch.ones(3, 4))
    assert flops_of(session) == set()


def test_flops_of_operators_that_this_pytorch_may_lack():
    """Operators of newer releases under their own names; here they only have to be called."""
    rows = [("_scaled_mm", [(2, 3), (3, 4)], 2 * 2 * 3 * 4),
            ("_grouped_mm", [(7, 3), (2, 3, 4)], 2 * 7 * 3 * 4),  # 7 rows in two groups
            ("_scaled_grouped_mm", [(2, 7, 3), (3, 8)], 2 * 7 * 3 * 8),  # 8 columns in two groups
            ("_scaled_grouped_mm_v2", [(2, 7, 3), (2, 3, 4)], 2 * 2 * 7 * 3 * 4),
            ("_scaled_dot_product_flash_attention", [(2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 6)], 2 * 2 * 3 * 4 * 5 * (8 + 6))]
    new = [row for row in rows if not hasattr(torch.ops.aten, row[0])]
    library = torch._C._dispatch_library("FRAGMENT", "aten", "")
    for name, inputs, _ in new:
        library.def_("%s(%s) -> Tensor" % (name, ", ".join("Tensor t%d" % i for i in range(len(inputs)))))
        library.impl(name, "CompositeExplicitAutograd", lambda *inputs: inputs[0].clone())
    with recorded.session(mstx=True, activities="CPU,NPU", with_flops=True) as session:
        for name, inputs, _ in new:
            getattr(torch.ops.aten, name)(*[torch.ones(*sizes) for sizes in inputs])
    assert flops_of(session) == {b"%d-%s" % (flops, name.encode()) for name, _, flops in new}


def test_flops_of_attention_of_an_npu():
    """The same product in each layout: 2 batches, 4 heads of width 8 and 6, 3 places with 5."""
    dense = 2 * 2 * 4 * (3 * 5) * (8 + 6)
    rows = [("BNSD", (2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 6), 0, None, None, dense),
            ("BSND", (2, 3, 4, 8), (2, 5, 4, 8), (2, 5, 4, 6), 0, None, None, dense),
            ("BSH", (2, 3, 32), (2, 5, 32), (2, 5, 24), 0, None, None, dense),
            ("SBH", (3, 2, 32), (5, 2, 16), (5, 2, 12), 0, None, None, dense),  # two heads of keys for four of queries
            ("TND", (6, 4, 8), (10, 4, 8), (10, 4, 6), 0, [3, 6], [5, 10], dense),
            ("TND", (6, 4, 8), (10, 4, 8), (10, 4, 6), 0, [1, 6], [2, 10], 2 * 4 * (1 * 2 + 5 * 8) * (8 + 6)),
            ("BNSD", (1, 1, 8, 2), (1, 1, 8, 2), (1, 1, 8, 2), 2, None, None, 2 * 32 * 4),  # half of the scores
            ("BNSD", (1, 1, 4, 2), (1, 1, 8, 2), (1, 1, 8, 2), 3, None, None, 2 * (32 - 8) * 4),
            ("BNSD", (1, 1, 4, 2), (1, 1, 8, 2), (1, 1, 8, 2), 7, None, None, None),
            ("TND", (6, 4, 8), (10, 4, 8), (10, 4, 6), 0, None, None, None),
            ("BSH", (2, 3, 4, 8), (2, 5, 32), (2, 5, 24), 0, None, None, None)]
    library = torch._C._dispatch_library("DEF", "npu", "")
    library.def_("npu_fusion_attention(Tensor q, Tensor k, Tensor v, int head_num, str input_layout, Tensor? pse=None, Tensor? padding_mask=None, "
                 "Tensor? atten_mask=None, float scale=1., float keep_prob=1., int pre=0, int next=0, int inner_precise=0, int[]? prefix=None, "
                 "int[]? actual_seq_qlen=None, int[]? actual_seq_kvlen=None, int sparse_mode=0) -> Tensor")
    library.impl("npu_fusion_attention", "CompositeExplicitAutograd", lambda q, *rest, **more: q.clone())
    for layout, q, k, v, mode, ends_of_query, ends_of_key, flops in rows:
        with recorded.session(mstx=True, activities="CPU,NPU", with_flops=True) as session:
            torch.ops.npu.npu_fusion_attention(torch.ones(q), torch.ones(k), torch.ones(v), 4, layout, actual_seq_qlen=ends_of_query,
                                               actual_seq_kvlen=ends_of_key, sparse_mode=mode)
        assert flops_of(session) == ({b"%d-npu_fusion_attention" % flops} if flops else set()), (layout, mode)



def test_results_of_the_loop_do_not_change():
    plain = Loop()
    plain_results = [plain.step() for _ in range(3)]
    watched = Loop()
    with recorded.session(record_shapes=True, profile_memory=True, with_stack=True, activities="CPU,NPU", device="sim"):
        watched_results = [watched.step() for _ in range(3)]
    assert plain_results == watched_results


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", __file__]))
