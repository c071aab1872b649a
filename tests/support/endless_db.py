# SPDX-License-Identifier: Apache-2.0
"""Databases that are small and never end: a table whose pages have the same pages as children, again and again."""
import sqlite3
import struct

LEVELS = 14


def varint(n):
    digits = [n & 127]
    while n := n >> 7:
        digits.append(n & 127 | 128)
    return bytes(reversed(digits))


def inner_page(size, child, begin):
    """A page of a tree whose children are all one."""
    page, at, n = bytearray(size), size, 0
    while at - 6 >= begin + 12 + 2 * (n + 1):
        cell = struct.pack(">I", child) + varint(n + 1)
        at -= len(cell)
        page[at:at + len(cell)] = cell
        struct.pack_into(">H", page, begin + 12 + 2 * n, at)
        n += 1
    struct.pack_into(">BHHHBI", page, begin, 5, 0, n, at, 0, child)
    return page


def make_endless(path, table=None):
    """Changes the tree of a table of the database, or that of its schema. There must be a row in it."""
    db = sqlite3.connect(path)
    size = db.execute("PRAGMA page_size").fetchone()[0]
    root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0] if table else 1
    db.close()
    with open(path, "rb") as f:
        data = bytearray(f.read())
    first = 100 if root == 1 else 0  # the header of the file is on its first page
    n, leaf = len(data) // size, data[(root - 1) * size:root * size]
    while leaf[first if leaf[:6] == b"SQLite" else 0] == 5:
        at = 108 if leaf[:6] == b"SQLite" else 8
        child = struct.unpack_from(">I", leaf, at)[0]
        leaf = data[(child - 1) * size:child * size]
    if leaf[:6] == b"SQLite":
        leaf[:100] = leaf[100:200]  # its rows are at its end
    top = inner_page(size, n + LEVELS, first)
    data[(root - 1) * size + first:root * size] = top[first:]
    data += leaf
    for level in range(1, LEVELS):
        data += inner_page(size, n + level, 0)
    data[28:32] = struct.pack(">I", len(data) // size)
    data[92:96] = data[24:28]  # which says that the size is valid
    with open(path, "wb") as f:
        f.write(data)
