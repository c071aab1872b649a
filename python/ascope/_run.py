# SPDX-License-Identifier: Apache-2.0
"""python3 -m ascope run SCRIPT ARGUMENTS...: run a script for NPUs unchanged; with --profile, record any script."""
import argparse
import glob
import os
import runpy
import sys
import weakref

from ascope import _core, _program

EXAMPLES = """\
examples:
  python3 -m ascope run train.py --epochs 3                           a script that imports torch_npu, without torch_npu
  python3 -m ascope run --profile --out result train.py --epochs 3    a script without a profiler: every step is recorded
  python3 -m ascope run --profile --skip-first 10 --warmup 1 --active 3 --repeat 1 --with-stack train.py
  torchrun --nproc_per_node 2 -m ascope run --profile train.py        every rank has its own directory

A step ends with optimizer.step(). Options have the names and the meaning of the parameters of torch_npu.profiler."""

STARTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_started")
NUMBERS = (
    ("skip-first", 0, "steps before the first cycle"),
    ("wait", 0, "steps of the wait phase of a cycle, which are not recorded"),
    ("warmup", 0, "steps of the warm-up phase, whose records are discarded"),
    ("active", 0, "steps of the active phase, which are recorded; 0: all that follow"),
    ("repeat", 1, "number of cycles, each with its own directory; 0: no limit"),
)
OPTIONS = [row for row in _core.option_table() if row["section"] and not row["is_old"]]
SHORT = {"profiler_level": ["--level"]}


def _names(text):
    return [name for name in text.split(",") if name]


def _add_option(group, row):
    """What the recorder's option table says of it."""
    dashed, default = "--" + row["name"].replace("_", "-"), row["default"]
    if row["kind"] == "boolean":
        if default:
            dashed = "--no-" + dashed[2:]
        group.add_argument(dashed, action="store_false" if default else "store_true", dest=row["name"],
                           help=("switch off: " if default else "") + row["help"])
        return
    kind, metavar = {"list": (_names, "NAMES"), "names": (_names, "NAMES"), "ms": (float, "MS"), "number": (int, "N")}.get(
        row["kind"], (str, "NAME"))
    choices = row["choices"] if row["kind"] == "choice" and default is not None else None
    shown = ",".join(default) if isinstance(default, list) else default
    more = "" if choices or row["kind"] == "ms" else " (%s)" % row["values"]
    group.add_argument(dashed, *SHORT.get(row["name"], []), type=kind, default=default, choices=choices,
                       metavar=None if choices else metavar,
                       help="%s%s [%s]" % (row["help"], more, row["otherwise"] if shown is None else shown))


def _parser():
    p = argparse.ArgumentParser(prog="python3 -m ascope run", description=__doc__, epilog=EXAMPLES,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("script", help="Python file, as for python3")
    p.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script")
    p.add_argument("-m", action="store_true", dest="is_module", help="SCRIPT is the name of a module")
    p.add_argument("--device", choices=("auto", "none", "sim"), help="device: auto (real devices, else the CPU alone), none, sim (a simulated NPU, for evaluation) [auto]")
    p.add_argument("--profile", action="store_true", help="record the script; the options below require it")
    where = p.add_argument_group("output")
    where.add_argument("--out", default="./result", metavar="DIR", help="directory of the collection [./result]")
    where.add_argument("--worker-name", metavar="NAME", help="prefix of its name [the host name]")
    where.add_argument("--no-analyse", action="store_true", help="do not analyse the collection")
    when = p.add_argument_group("steps")
    for name, default, text in NUMBERS:
        when.add_argument("--" + name, type=int, default=default, metavar="N", help="%s [%d]" % (text, default))
    what = p.add_argument_group("contents of the recording")
    for row in OPTIONS:
        _add_option(what, row)
    return p


def _named(kind, names):
    """Members by name; an invalid name stays a string, which is reported later."""
    return [getattr(kind, name, name) for name in names]


def _profiler(o):
    from ascope.torch import profiler

    def given(section):
        return {row["name"]: getattr(o, row["name"]) for row in OPTIONS if row["section"] == section}

    of_config = given("experimental_config")
    if o.aic_metrics:
        of_config["aic_metrics"], = _named(profiler.AiCMetrics, [o.aic_metrics])
    of_profile = given("common_config")
    of_profile["activities"] = _named(profiler.ProfilerActivity, o.activities)
    plan = {name: getattr(o, name) for name in (row[0].replace("-", "_") for row in NUMBERS)}
    plan["active"] = plan["active"] or _core.EVERY_STEP
    return profiler.profile(
        **of_profile, schedule=profiler.schedule(**plan), experimental_config=profiler._ExperimentalConfig(**of_config),
        on_trace_ready=profiler.tensorboard_trace_handler(o.out, o.worker_name, analyse_flag=not o.no_analyse))


def _step_at_optimizers(prof):
    """The optimizer that ends the first step ends all steps while it exists: a training may have several."""
    try:
        import torch
    except ImportError:  # the script may not need it
        return
    ends, inside = [], []  # [a weak reference to the optimizer]; those whose step() is running

    def watch(made_of):
        cls = next((one for one in made_of.__mro__ if "step" in vars(one)), torch.optim.Optimizer)
        step = vars(cls)["step"]
        if getattr(step, "ends_steps", False):
            return

        def stepped(self, *args, **kwargs):
            inside.append(self)
            try:
                result = step(self, *args, **kwargs)
            finally:
                inside.pop()
            if not ends or ends[0]() is None:
                ends[:] = [weakref.ref(self)]
            if ends[0]() is self and self not in inside:  # its class may call the step() of a base class
                prof.step()
            return result

        stepped.ends_steps = True
        stepped.__wrapped__ = step
        for name in ("hooked", "__doc__", "__name__"):
            if hasattr(step, name):
                setattr(stepped, name, getattr(step, name))
        cls.step = stepped

    known = torch.optim.Optimizer.__init__

    def made(self, *args, **kwargs):
        known(self, *args, **kwargs)
        watch(type(self))  # outside of PyTorch's own range of the step: the next step begins after it

    torch.optim.Optimizer.__init__ = made


def _shown_as_the_scripts(script):
    """An exception of the script is shown without the frames of ascope."""

    def show(kind, value, trace):
        inner = trace
        while inner and inner.tb_frame.f_code.co_filename != script:
            inner = inner.tb_next
        sys.__excepthook__(kind, value.with_traceback(inner or trace), inner or trace)

    return show


OPENED = (("trace_view.json", "https://ui.perfetto.dev, chrome://tracing or MindStudio Insight"),
          ("ascend_pytorch_profiler*.db", "MindStudio Insight or SQLite"))


def _show_results():
    """At the end: the summary of the last collection, as of `ascope analyse`, the names of the others, and the files to open."""
    done = [(path, result.summary) for path, result in _program.analysed if result.is_done]
    if not done or os.environ.get("RANK", "0") != "0":
        return
    path, summary = done[-1]
    lines = ["analysed: " + other for other, _ in done[:-1]] + ["", summary.rstrip("\n"), ""]
    for name, viewer in OPENED:
        for file in glob.glob(os.path.join(glob.escape(path), "ASCEND_PROFILER_OUTPUT", name)):
            lines.append("  open %s in %s" % (os.path.relpath(file), viewer))
    try:
        print("\n".join(lines), flush=True)
    except (OSError, ValueError):  # stdout is closed
        pass


def main(arguments):
    o = _parser().parse_args(arguments)
    if not o.is_module and not os.path.isfile(o.script):
        print("ascope: %s: no such file; give a Python script" % o.script, file=sys.stderr)
        return 1
    if o.device:
        os.environ["ASCOPE_DEVICE"] = o.device
    from ascope import torch_npu_compat
    if torch_npu_compat.is_needed:  # also in processes that the script spawns, and in programs that it starts
        sys.path.append(STARTED)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH"), STARTED)))
    sys.argv = [o.script] + o.arguments
    sys.excepthook = _shown_as_the_scripts(o.script)
    sys.path.insert(0, os.getcwd() if o.is_module else os.path.dirname(os.path.abspath(o.script)))
    prof = None
    if o.profile:
        prof = _profiler(o)
        _step_at_optimizers(prof)
        prof.start()
    try:
        if o.is_module:
            runpy.run_module(o.script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(o.script, run_name="__main__")
    finally:
        if prof:
            prof.stop()
        if prof and o.no_analyse and prof._path:
            print("recorded: %s; run `ascope analyse` for timeline and tables" % os.path.relpath(prof._path), flush=True)
        _program.wait_for_all()
        _show_results()
    return 0
