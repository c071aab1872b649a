# SPDX-License-Identifier: Apache-2.0
"""What a file system may have after a power cut, from a log of the calls before it (power_log.c).

Durable is what was synced: the content of a file by fsync() of the file, a name by fsync() of its directory. Of the rest each part may be there
or not, independently: of a file's content what was synced, all, a part, or zeros of the right length; of a directory any of the changes
since its last sync, where a rename is one change. What a file system guarantees beyond that is not used.
"""
import os
import random

BLOCK = 1 << 16
LAST = 4  # changes of names that are left out one at a time: a later one must not be there without them


class Node:
    def __init__(self, is_dir, data=b""):
        self.is_dir = is_dir
        self.data = bytearray(data)  # now
        self.durable = bytes(data)  # after a power cut, at least
        self.names, self.durable_names = {}, {}  # of a directory
        self.pending = []  # (number of the call, [(name, node or None)])


def snapshot(path):
    """The tree of a directory that was written long ago: all of it is durable. Also {"device:inode": node}."""
    by_id = {}

    def read(at):
        st = os.lstat(at)
        node = Node(os.path.isdir(at))
        if node.is_dir:
            node.names = {name: read(os.path.join(at, name)) for name in os.listdir(at)}
            node.durable_names = dict(node.names)
        else:
            with open(at, "rb") as f:
                node.data = bytearray(f.read())
            node.durable = bytes(node.data)
        by_id[f"{st.st_dev}:{st.st_ino}"] = node
        return node

    return read(path), by_id


def calls(log):
    with open(log, "rb") as f:
        while line := f.readline():
            what, *rest = line.decode("utf-8", "surrogateescape").rstrip("\n").split("\t")
            yield what, rest, f.read(int(rest[2])) if what == "write" else b""


class Disk:
    """Follows the calls of a log; states() may be asked for after each."""

    def __init__(self, root):
        self.path = root
        self.root, self.by_id = snapshot(root)
        self.n = 0

    def find(self, path):
        parts = [p for p in os.path.relpath(os.path.normpath(path), self.path).split("/") if p != "."]
        node = self.root
        for part in parts[:-1]:
            node = node.names[part]
        return (node, parts[-1]) if parts else (None, "")

    def change(self, *changes):
        """[(directory, name, node or None)]: one change, even of two directories."""
        for node, name, to in changes:
            if to is None:
                node.names.pop(name, None)
            else:
                node.names[name] = to
            node.pending.append((self.n, name, to))

    def do(self, what, rest, data):
        self.n += 1
        if what in ("create", "mkdir"):
            node, name = self.find(rest[1])
            new = self.by_id[rest[0]] = Node(what == "mkdir")
            self.change((node, name, new))
        elif what == "open":
            assert rest[0] in self.by_id, rest
        elif what == "unlink":
            node, name = self.find(rest[0])
            self.change((node, name, None))
        elif what in ("rename", "link"):
            (a, a_name), (b, b_name) = self.find(rest[0]), self.find(rest[1])
            moved = a.names[a_name]
            self.change((b, b_name, moved), *([(a, a_name, None)] if what == "rename" else []))
        else:
            file = self.by_id[rest[0]]
            if what == "write":
                at = int(rest[1])
                file.data.extend(bytes(max(0, at - len(file.data))))
                file.data[at:at + len(data)] = data
            elif what in ("truncate", "grow"):
                length = max(int(rest[1]), len(file.data) if what == "grow" else 0)
                del file.data[length:]
                file.data.extend(bytes(length - len(file.data)))
            elif what == "sync":
                file.durable = bytes(file.data)
                file.durable_names = dict(file.names)
                file.pending = []
            else:
                raise AssertionError(what)

    # ---- after a power cut ----

    CONTENT = {
        "synced": lambda file, _: file.durable,
        "all": lambda file, _: bytes(file.data),
        "empty": lambda file, _: file.durable if bytes(file.data) == file.durable else b"",
        "zeros": lambda file, _: file.durable[:len(file.data)] + bytes(max(0, len(file.data) - len(file.durable))),
        "part": lambda file, rng: bytes(file.data[:rng.randint(min(len(file.durable), len(file.data)), len(file.data))]),
    }

    def state(self, has_change, content):
        """{path: bytes or None of a directory}: has_change(call) says which changes of names are there, content(file) what is in it."""
        chosen = {}

        def walk(node, at, out):
            names = dict(node.durable_names)
            for call, name, to in node.pending:
                if chosen.setdefault(call, has_change(call)):
                    names.pop(name, None) if to is None else names.__setitem__(name, to)
            for name, below in names.items():
                path = os.path.join(at, name)
                out[path] = None if below.is_dir else content(below)
                if below.is_dir:
                    walk(below, path, out)
            return out

        return walk(self.root, "", {})

    def states(self, n_random, seed):
        """The extremes, and some between them; the same ones each time."""
        rng = random.Random(seed * 1000003 + self.n)
        for names in (False, True):
            for content in ("synced", "all") if not names else ("synced", "empty", "zeros", "all"):
                yield f"{'all' if names else 'synced'} names, content {content}", self.state(lambda _, n=names: n, lambda f, c=content: self.CONTENT[c](f, rng))
        for missing in sorted({call for node in self.by_id.values() for call, _, _ in node.pending})[-LAST:]:
            yield f"all names but that of call {missing}", self.state(lambda call, m=missing: call != m, lambda f: bytes(f.data))
        for i in range(n_random):
            likely = rng.random()
            yield f"random {i}", self.state(lambda _: rng.random() < likely, lambda f: self.CONTENT[rng.choice(sorted(self.CONTENT))](f, rng))


def write(state, to):
    for path, data in state.items():
        at = os.path.join(to, path)
        if data is None:
            os.makedirs(at, mode=0o750, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(at), exist_ok=True)
        with open(at, "wb") as f:  # the rings are mostly holes
            for i in range(0, len(data), BLOCK):
                block = data[i:i + BLOCK]
                if block.count(0) == len(block):
                    f.seek(len(block), os.SEEK_CUR)
                else:
                    f.write(block)
            f.truncate(len(data))
