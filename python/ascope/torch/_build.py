# SPDX-License-Identifier: Apache-2.0
"""The PyTorch listener, compiled for the installed PyTorch.

PyTorch's C++ interface changes with every version, so `listener.cpp` is compiled once where it is used: the result is stored in
$ASCOPE_CACHE, or ~/.cache/ascope, under a name derived from all of its inputs. Processes that start at the same time wait for
the first one.
"""

import contextlib
import ctypes
import fcntl
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).with_name("listener.cpp")
PACKAGE = pathlib.Path(__file__).resolve().parent.parent
DIGEST_BYTES = hashlib.sha256().digest_size
# NDEBUG as in PyTorch itself: without it the headers use checks that its libraries do not provide.
FLAGS = ["-O2", "-g1", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-plt", "-w"]


class BuildError(RuntimeError):
    """The listener cannot be built; the text says what is missing."""


def _first(places, what):
    for place in places:
        if place and (place / what).exists():
            return place
    return None


def _loaded_library():
    """The libascope of this process: the listener has to use the one that records."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            for line in maps:
                path = line.split(maxsplit=5)[-1].strip()
                if os.path.basename(path).startswith("libascope.so"):
                    return pathlib.Path(path)
    except OSError:
        pass
    return None


def _library():
    found = _loaded_library()
    if found:
        return found
    for place in (PACKAGE, PACKAGE.parent.parent, PACKAGE.parent.parent / "build", pathlib.Path(sys.prefix, "lib"),
                  pathlib.Path("/usr/local/lib"), pathlib.Path("/usr/lib")):
        if (place / "libascope.so.0").exists():
            return place / "libascope.so.0"
    raise BuildError("libascope.so.0: not loaded and not found beside this package; reinstall ascope")


def _ascope_headers():
    found = _first((PACKAGE / "include", PACKAGE.parent.parent / "include", PACKAGE.parent.parent.parent / "include",
                    pathlib.Path(sys.prefix, "include"), pathlib.Path("/usr/local/include"),
                    pathlib.Path("/usr/include")), "ascope/record.h")
    if not found:
        raise BuildError("ascope/record.h: not found beside this package; reinstall ascope")
    return found


def _torch_places(torch):
    """The directories of PyTorch's headers and libraries. Debian has the headers in /usr/include."""
    home = pathlib.Path(torch.__file__).resolve().parent
    headers = _first((home / "include", pathlib.Path("/usr/include")), "ATen/record_function.h")
    if not headers:
        raise BuildError(f"PyTorch {torch.__version__}: C++ headers not found (ATen/record_function.h); "
                         "install them (Debian: libtorch-dev)")
    return headers, home / "lib"


def _standard(torch):
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    return "-std=c++20" if version >= (2, 10) else "-std=c++17"


def _compiler():
    for name in (os.environ.get("CXX"), "c++", "g++", "clang++"):
        if name and shutil.which(name.split()[0]):
            return name.split()
    raise BuildError("no C++ compiler found (c++, g++, clang++ or $CXX); install one to compile the listener for PyTorch "
                     f"{_torch().__version__}")


def _torch():
    try:
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise BuildError(f"{sys.executable}: PyTorch cannot be imported: {error}") from error
    return torch


def _abi(torch):
    return int(torch.compiled_with_cxx11_abi())


def _key(torch, headers, source):
    digest = hashlib.sha256()
    for part in (torch.__version__, getattr(torch.version, "git_version", ""), str(_abi(torch)), platform.machine(),
                 " ".join(FLAGS), _standard(torch)):
        digest.update(str(part).encode() + b"\0")
    for path in [source, *sorted(source.parent.glob("*.h")), *sorted((headers / "ascope").glob("*.h"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _is_ours(path):
    """Whether a file or directory belongs to this user and nobody else can write to it."""
    state = path.stat()
    return state.st_uid == os.getuid() and not state.st_mode & 0o022


def _seal(path):
    """Appends the digest of a library to it, which the dynamic loader ignores."""
    data = path.read_bytes()
    with open(path, "ab") as file:
        file.write(hashlib.sha256(data).digest())


def _is_whole(path):
    """Whether the digest is right. An incomplete library (full disk, power failure) would crash the program that loads it."""
    data = path.read_bytes()
    return hashlib.sha256(data[:-DIGEST_BYTES]).digest() == data[-DIGEST_BYTES:]


def _is_usable(path):
    try:
        return _is_ours(path) and _is_whole(path)
    except OSError:
        return False


def _caches():
    home = os.environ.get("ASCOPE_CACHE")
    if not home:
        home = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "ascope")
    places = (pathlib.Path(home), pathlib.Path(os.environ.get("TMPDIR") or "/tmp", f"ascope-{os.getuid()}"))
    return [place for place in places if not str(place).startswith("~")]  # no home directory


def _cache():
    places = _caches()
    for place in places:
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(place, os.W_OK) and _is_ours(place):
                return place
        except OSError:
            continue
    raise BuildError(f"{places[0]}: not writable, or writable by others; set ASCOPE_CACHE to a directory for the compiled listener")


def _name(torch, headers, source):
    return f"{source.stem}-{torch.__version__}-{_key(torch, headers, source)}.so"


def _compile(torch, headers, source, to):
    torch_headers, torch_libraries = _torch_places(torch)
    library = _library()
    command = [*_compiler(), _standard(torch), *FLAGS, f"-D_GLIBCXX_USE_CXX11_ABI={_abi(torch)}", f"-I{headers}"]
    if torch_headers != pathlib.Path("/usr/include"):  # found by default; listed explicitly it would hide the compiler's own headers
        command += ["-isystem", str(torch_headers), "-isystem", str(torch_headers / "torch/csrc/api/include")]
    command += [str(source), "-o", str(to), f"-L{torch_libraries}", "-ltorch_cpu", "-lc10", str(library),
                f"-Wl,-rpath,{library.parent}", f"-Wl,-rpath,{torch_libraries}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False)
    if done.returncode != 0:
        complaints = [line for line in done.stdout.splitlines() if "error" in line] or done.stdout.splitlines()
        raise BuildError(f"PyTorch {torch.__version__}: unsupported version or incomplete headers: "
                         f"{complaints[0].strip() if complaints else command[0]}")


def path(source=SOURCE):
    """Path of the compiled listener (or another such file), compiled now if necessary. Raises BuildError."""
    torch = _torch()
    headers = _ascope_headers()
    cache = _cache()
    name = cache / _name(torch, headers, source)
    if _is_usable(name):
        return name
    try:
        with open(cache / "lock", "w", encoding="utf-8") as lock:
            with contextlib.suppress(OSError):  # a file system without locks: several processes compile, and the last result is kept
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_usable(name):
                handle, unfinished = tempfile.mkstemp(prefix=f".{name.name}.", dir=cache)
                os.close(handle)
                unfinished = pathlib.Path(unfinished)
                try:
                    _compile(torch, headers, source, unfinished)
                    _seal(unfinished)
                    os.chmod(unfinished, 0o700)
                    os.replace(unfinished, name)
                finally:
                    unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise BuildError(f"{cache}: the compiled listener cannot be stored: {error}") from error
    return name


def planned():
    """For `ascope doctor`: whether the listener is compiled, where it is or will be, and with what. Compiles and writes nothing.
    Raises BuildError if it cannot be compiled."""
    torch = _torch()
    name = _name(torch, _ascope_headers(), SOURCE)
    built = next((place / name for place in _caches() if _is_usable(place / name)), None)
    if built:
        return {"is_built": True, "path": str(built), "compiler": ""}
    _torch_places(torch)
    _library()
    return {"is_built": False, "path": str(_caches()[0] / name), "compiler": _compiler()[0]}


_loaded = _trouble = None


def _announce():
    """Tells the user that the listener is compiled: it delays the program, which would seem to hang."""
    from ascope.torch._messages import info
    try:
        if os.environ.get("RANK", "0") == "0" and compiles():
            info("compiling the listener for PyTorch %s, once for this version; this may take a minute" % _torch().__version__)
    except Exception:  # loading it fails as well, and reports why
        pass


def load(announces=False):
    """Loads and registers the listener. Raises BuildError; the same one when called again, because compiling is slow."""
    if announces:
        _announce()
    global _loaded, _trouble  # pylint: disable=global-statement
    if _trouble is not None:
        raise _trouble
    if _loaded is None:
        try:
            library = ctypes.CDLL(str(path()))
        except BuildError as error:
            _trouble = error
            raise
        except OSError as error:
            raise BuildError(f"the compiled listener cannot be loaded: {error}") from error
        library.ascope_torch_enable_thread.argtypes = [ctypes.c_bool] * 5
        library.ascope_torch_enable_thread.restype = None
        library.ascope_torch_disable_thread.restype = None
        library.ascope_torch_stack_source.argtypes = [ctypes.c_void_p] * 3
        library.ascope_torch_stack_source.restype = None
        library.ascope_torch_memory.argtypes = [ctypes.c_bool]
        library.ascope_torch_memory.restype = None
        library.ascope_torch_own_steps.argtypes = [ctypes.c_bool]
        library.ascope_torch_own_steps.restype = None
        library.ascope_torch_world.argtypes = [ctypes.c_uint32] * 2
        library.ascope_torch_world.restype = None
        library.ascope_torch_group.argtypes = [ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int32]
        library.ascope_torch_group.restype = ctypes.c_bool
        library.ascope_torch_graph.argtypes = [ctypes.c_void_p, ctypes.c_bool]
        library.ascope_torch_graph.restype = None
        if not library.ascope_torch_listen():
            raise BuildError("libascope: too many listeners")
        _loaded = library
    return _loaded


def compiles():
    """Whether load() compiles it first. Raises BuildError as planned() does."""
    return _loaded is None and _trouble is None and not planned()["is_built"]


def loaded():
    """The listener, if there is one; None before load()."""
    return _loaded
