# SPDX-License-Identifier: Apache-2.0
"""The program that runs in parallel to a training: found, run, reported when it fails, never in the way."""
import glob
import os
import stat
import subprocess
import sys
import threading

import pytest

from ascope import _core, _program


@pytest.fixture
def messages():
    return []


@pytest.fixture
def report(messages):
    return lambda severity, text: messages.append((severity, text))


@pytest.fixture
def collection(tmp_path):
    p = _core.Profiler({"parent_dir": str(tmp_path), "device": "sim", "mstx": True})
    _core.on_message(lambda severity, text: None)
    p.start()
    _core.mark("here")
    p.stop()
    _core.on_message(None)
    return p.path


@pytest.fixture
def pretends(tmp_path, monkeypatch):
    """pretends(shell code): a program of that kind is the one that is found."""

    def make(code):
        path = tmp_path / "program"
        path.write_text("#!/bin/sh\n" + code)
        path.chmod(0o755)
        monkeypatch.setenv("ASCOPE_PROGRAM", str(path))

    return make


def results(path, pattern="*"):
    return sorted(os.path.basename(p) for p in glob.glob(os.path.join(path, "ASCEND_PROFILER_OUTPUT", pattern)))


def test_found_in_the_build_tree(monkeypatch):
    monkeypatch.delenv("ASCOPE_PROGRAM")
    monkeypatch.setenv("PATH", "")
    done = subprocess.run([_program.find(), "--version"], stdout=subprocess.PIPE, text=True, check=True)
    assert _core.version() in done.stdout


def test_analyse(collection, report, messages):
    result = _program.analyse(collection, report=report)
    assert result.is_done and result.seconds > 0 and not messages
    assert "trace_view.json" in results(collection) and not results(collection, "*.db")
    _program.analyse(collection, export_type=["text", "db"], max_process_number=1, report=report)
    assert results(collection, "*.db") and not messages


def test_analyse_beside(collection, report, messages):
    ended = []
    assert _program.analyse(collection, waits=False, report=report, done=ended.append) is None
    _program.wait_for_all()
    assert ended[0].code == 0 and not messages and "trace_view.json" in results(collection)


def test_exports(collection, tmp_path, report, messages):
    assert _program.export_chrome_trace(collection, tmp_path / "trace.json", report=report).is_done
    assert (tmp_path / "trace.json").exists() and not messages
    assert not _program.export_stacks(collection, tmp_path / "stacks.log", report=report).is_done
    assert not _program.export_memory_timeline(collection, tmp_path / "memory.html", device="cpu", report=report).is_done
    assert len(messages) == 2 and all(severity == _core.ERROR and "\n" not in text for severity, text in messages)


def test_exports_to_what_is_no_file(collection, tmp_path, report, messages, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _program.export_chrome_trace(collection, tmp_path / "trace.json", report=report).is_done
    text = (tmp_path / "trace.json").read_bytes()
    os.mkfifo(tmp_path / "fifo")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "fifo").read_bytes()))
    reader.start()
    assert _program.export_chrome_trace(collection, tmp_path / "fifo", report=report).is_done
    reader.join()
    assert got == [text] and stat.S_ISFIFO(os.lstat(tmp_path / "fifo").st_mode)
    assert not _program.is_file_name(tmp_path / "fifo") and _program.is_file_name("trace.json") and _program.is_file_name("new")
    assert _program.export_chrome_trace(collection, "-", report=report).is_done  # the program's standard output is nobody's
    assert (tmp_path / "-").read_bytes() == text
    with open(tmp_path / "redirected", "wb") as file:  # a descriptor of this process, not of the program that is started
        file.write(b"before ")
        file.flush()
        assert _program.export_chrome_trace(collection, "/dev/fd/%d" % file.fileno(), report=report).is_done
    assert (tmp_path / "redirected").read_bytes() == b"before " + text and not messages


def test_nothing_to_analyse(tmp_path, report, messages):
    result = _program.analyse(tmp_path / "nowhere", report=report)
    assert not result.is_done and len(messages) == 1 and "nowhere" in messages[0][1]


def test_no_program(monkeypatch, report, messages):
    monkeypatch.setenv("ASCOPE_PROGRAM", "/nowhere/ascope")
    assert not _program.analyse("x", report=report).is_done
    _program.analyse("x", waits=False, report=report)
    _program.wait_for_all()
    assert len(messages) == 2 and all("/nowhere/ascope cannot be started" in text for _, text in messages)


@pytest.mark.parametrize("code, text", [
    ("echo first >&2; echo 'ascope: last' >&2; exit 1", "analyse x: last"),
    ("exit 9", "analyse x: exit code 9"),
    ("kill -9 $$", "analyse x: ended by signal 9"),
])
def test_failures_are_one_line(pretends, report, messages, code, text):
    pretends(code)
    _program.analyse("x", report=report)
    _program.analyse("x", waits=False, report=report)
    _program.wait_for_all()
    assert messages == [(_core.ERROR, text)] * 2


def test_losses_are_a_warning(pretends, report, messages):
    pretends("exit 3")
    assert _program.analyse("x", report=report).is_done and messages[0][0] == _core.WARNING


def test_beside_does_not_wait(pretends, report, tmp_path):
    pretends("while [ ! -e %s/go ]; do sleep 0.02; done; : > %s/done" % (tmp_path, tmp_path))
    _program.analyse("x", waits=False, report=report)  # waiting here would never end
    (tmp_path / "go").write_text("")
    _program.wait_for_all()
    assert (tmp_path / "done").exists()


def test_a_lot_of_output_blocks_nothing(pretends, report, messages):
    pretends("yes | head -c 1000000; yes | head -c 1000000 >&2; exit 1")
    _program.analyse("x", report=report)
    assert messages == [(_core.ERROR, "analyse x: y")]


def test_the_program_is_not_recorded(pretends, report, messages, monkeypatch):
    monkeypatch.setenv("ASCOPE_RECORD", "/nowhere")
    pretends('test -z "$ASCOPE_RECORD$LD_PRELOAD"')
    assert _program.analyse("x", report=report).code == 0


def test_interpreter_waits_at_its_end(script, tmp_path):
    done = script("""
        from ascope import _core, _program
        p = _core.Profiler({"parent_dir": ".", "device": "sim"}, None, lambda path: _program.analyse(path, waits=False))
        p.start()  # and never stopped: that, too, is analysed
    """)
    path, = glob.glob(str(tmp_path / "*_ascend_pt"))
    assert "trace_view.json" in results(path) and done.stderr == ""


def test_interrupt_ends_the_wait(script, tmp_path, pretends):
    pretends("kill -INT $PPID; exec sleep 300")  # while it is waited for
    done = script("""
        from ascope import _program
        try:
            _program.analyse("x")
        except KeyboardInterrupt:
            print("interrupted")
    """)
    assert done.stdout == "interrupted\n"


def test_children_do_not_wait(script, pretends):
    pretends("while [ ! -e go ]; do sleep 0.02; done")
    script("""
        import os
        from ascope import _program
        _program.analyse("x", waits=False)
        if os.fork() == 0:
            _program.wait_for_all()  # waiting here would never end
            os._exit(0)
        assert os.wait()[1] == 0
        open("go", "w").close()
    """)


def test_as_a_module():
    done = subprocess.run([sys.executable, "-m", "ascope", "--version"], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.startswith("ascope ")
    assert subprocess.run([sys.executable, "-m", "ascope", "nonsense"], stderr=subprocess.DEVNULL).returncode == 2
