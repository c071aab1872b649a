# SPDX-License-Identifier: Apache-2.0
"""Scripts for NPUs as people write them run as they are where there is no NPU: with the simulated device, and with none."""
import glob
import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("torch")
HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = sorted(glob.glob(os.path.join(HERE, "npu_scripts/*.py")))


def run(place, *arguments):
    return subprocess.run([sys.executable, "-m", "ascope", "run", *arguments], cwd=place, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=200)


def runs(place, script, device):
    done = run(place, "--device", device, script)
    assert done.returncode == 0, done.stdout
    assert "[ERROR]" not in done.stdout, done.stdout


def runs_quickly(quick, place, script, device):
    done = quick.ascope(place, "run", "--device", device, script)
    assert done.code == 0 and "[ERROR]" not in done.out + done.err, done.out + done.err


@pytest.mark.parametrize("script", SCRIPTS, ids=os.path.basename)
def test_it_runs_as_it_is(quick, tmp_path, script):
    runs_quickly(quick, tmp_path, script, "sim")


@pytest.mark.parametrize("name", ["inference", "memory_stats", "profiled", "transfer"])  # what they do depends on it
def test_it_runs_where_no_device_is_simulated(quick, tmp_path, name):
    runs_quickly(quick, tmp_path, os.path.join(HERE, "npu_scripts", name + ".py"), "none")


def test_there_are_a_dozen():
    assert len(SCRIPTS) >= 12


FACTORIES = """
    import torch
    import torch_npu
    from ascope import _npu_devices

    like, file = ("ones_like", "zeros_like", "empty_like", "rand_like", "randn_like"), open("numbers", "wb")
    file.write(bytes(64))
    file.close()
    arguments = {
        "arange": (3,), "as_tensor": ([1],), "asarray": ([1],), "empty_permuted": ((2, 2), (1, 0)), "empty_strided": ((2,), (1,)),
        "eye": (2,), "from_file": ("numbers",), "full": ((2,), 1.0), "full_like": (torch.ones(2), 1.0), "linspace": (0, 1, 3),
        "logspace": (0, 1, 3), "normal": (0.0, 1.0, (2,)), "randint": (3, (2,)), "randint_like": (torch.ones(2), 3), "randperm": (3,),
        "range": (0, 2), "scalar_tensor": (1.0,), "tensor": ([1],), "tril_indices": (2, 2), "triu_indices": (2, 2),
        "sparse_coo_tensor": ([[0]], [1.0], (2,)), "sparse_csr_tensor": ([0, 1], [0], [1.0], (1, 2)),
        "sparse_csc_tensor": ([0, 1], [0], [1.0], (2, 1)), **{name: (torch.ones(2),) for name in like},
        "new_empty": ((2,),), "new_empty_strided": ((2,), (1,)), "new_full": ((2,), 1.0), "new_ones": (2,), "new_tensor": ([1],),
        "new_zeros": (2,), "fftfreq": (4,), "rfftfreq": (4,),
    }
    not_here = {"frombuffer", "empty_quantized", "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor"}
    n = 0
    for path, names, at in _npu_devices.DEVICES:
        for name in set(names.split()) - not_here if at is None and path in ("", "fft", "Tensor") else ():
            owner = torch.ones(2) if path == "Tensor" else getattr(torch, path) if path else torch
            function = getattr(owner, name, None)
            for device in ("npu:0", "npu", 0, torch.device("npu:0")) if function else ():
                how = {"size": 4} if name == "from_file" else {}
                assert function(*arguments.get(name, (2,)), device=device, **how).device.type == "cpu", name
                n += 1
    assert n > 140, n
    """


def write(place, code):
    (place / "script.py").write_text(textwrap.dedent(code))
    return "script.py"


def test_every_function_that_makes_tensors_takes_the_name_of_the_device(tmp_path):
    runs(tmp_path, write(tmp_path, FACTORIES), "sim")


SHADOWED = """
    import torch_npu
    assert torch_npu.profiler.profile
    import torch
    assert torch.ones(2, device="npu").npu().sum() == 2
    """


@pytest.mark.parametrize("file", [None, "__init__.py"])
def test_a_folder_named_torch_npu_beside_the_script(tmp_path, file):
    """Notes, results, or the sources of the real one, which cannot be imported from there."""
    (tmp_path / "torch_npu").mkdir()
    if file:
        (tmp_path / "torch_npu" / file).write_text("import torch_npu._C\n")
    runs(tmp_path, write(tmp_path, SHADOWED), "none")


def test_what_only_a_device_has_says_so(tmp_path):
    done = run(tmp_path, write(tmp_path, "import torch, torch_npu\ntorch.npu.NPUGraph()\n"))
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "AttributeError: torch.npu.NPUGraph: not available without an NPU"


def test_arguments_of_a_group_are_not_compared():
    """Ranks may be an array, whose comparison is not a boolean."""
    from ascope import _npu_devices

    class Array:
        def __ne__(self, other):
            raise ValueError("ambiguous")

    ranks = Array()
    call = _npu_devices._with_gloo(lambda *args, **kwargs: (args, kwargs))
    assert call(ranks, pg_options=1) == ((ranks,), {"pg_options": 1})
    assert call("hccl", pg_options=1) == (("gloo",), {})
    assert call(ranks, backend="cpu:gloo,npu:hccl", pg_options=1) == ((ranks,), {"backend": "gloo"})
