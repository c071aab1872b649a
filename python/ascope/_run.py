"""python3 -m ascope run SCRIPT ARGUMENTS...: a script for NPUs as it is; with --profile one that knows of no profiler."""
import argparse
import os
import runpy
import sys

OPTIONS = """\
With --profile every step of the training is recorded, a step being what ends with optimizer.step(); --wait, --warmup, --active and --repeat
choose some of them, as torch_npu.profiler.schedule does."""


def _parser():
    p = argparse.ArgumentParser(prog="python3 -m ascope run", description=__doc__, epilog=OPTIONS,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("script", help="a Python file, as it would be given to python3")
    p.add_argument("arguments", nargs=argparse.REMAINDER, help="what the script gets")
    p.add_argument("--device", choices=("auto", "none", "sim"), help="where kernels run: auto finds real devices; sim simulates one")
    p.add_argument("--profile", action="store_true", help="record the script from outside")
    p.add_argument("--out", default="./result", help="where the collection goes [./result]")
    p.add_argument("--no-analyse", action="store_true", help="leave the analysis for later")
    for name, default in (("wait", 0), ("warmup", 0), ("active", 0), ("repeat", 1), ("skip-first", 0)):
        p.add_argument("--" + name, type=int, default=default, metavar="N", help="steps; --active 0: all of them"
                       if name == "active" else None)
    for name in ("record-shapes", "profile-memory", "with-stack", "with-modules", "mstx", "l2-cache"):
        p.add_argument("--" + name, action="store_true")
    p.add_argument("--level", default="Level0", choices=("Level0", "Level1", "Level2", "Level_none"))
    p.add_argument("--export-type", default="text", help="text, db, or text,db")
    return p


def _profiler(o):
    from ascope.torch import profiler
    config = profiler._ExperimentalConfig(profiler_level=o.level, mstx=o.mstx or o.level == "Level_none", l2_cache=o.l2_cache,
                                          export_type=o.export_type.split(","))
    plan = profiler.schedule(wait=o.wait, warmup=o.warmup, active=o.active, repeat=o.repeat,
                             skip_first=o.skip_first) if o.active > 0 else _every_step
    return profiler.profile(schedule=plan, record_shapes=o.record_shapes, profile_memory=o.profile_memory,
                            with_stack=o.with_stack, with_modules=o.with_modules, experimental_config=config,
                            on_trace_ready=profiler.tensorboard_trace_handler(o.out, analyse_flag=not o.no_analyse))


def _every_step(step):
    from ascope.torch.profiler import ProfilerAction
    return ProfilerAction.RECORD


def _step_at_optimizers(prof):
    """The optimizer that ends the first step ends all of them: a training may have several."""
    import torch
    ends = []

    def watch(cls):
        step = cls.__dict__.get("step")
        if step is None or getattr(step, "ends_steps", False):
            return

        def stepped(self, *args, **kwargs):
            result = step(self, *args, **kwargs)
            if not ends:
                ends.append(id(self))
            if ends[0] == id(self):
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
        watch(type(self))  # behind PyTorch's own range of the step: the next step begins outside of it

    torch.optim.Optimizer.__init__ = made


def main(arguments):
    o = _parser().parse_args(arguments)
    if not os.path.isfile(o.script):
        print("ascope: %s: no such file; wanted a Python script" % o.script, file=sys.stderr)
        return 1
    if o.device:
        os.environ["ASCOPE_DEVICE"] = o.device
    import ascope.torch_npu_compat
    sys.argv = [o.script] + o.arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(o.script)))
    prof = None
    if o.profile:
        prof = _profiler(o)
        _step_at_optimizers(prof)
        prof.start()
    try:
        runpy.run_path(o.script, run_name="__main__")
    finally:
        if prof:
            prof.stop()
    return 0
