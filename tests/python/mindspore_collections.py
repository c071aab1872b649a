# SPDX-License-Identifier: Apache-2.0
"""What tests of the MindSpore front end look for in collections."""
import json
import os
import struct


def collections(place="data"):
    return sorted(os.path.join(place, name) for name in os.listdir(place) if name.endswith("_ascend_ms"))


def info_of(path, rank=0):
    with open(os.path.join(path, "profiler_info_%d.json" % rank)) as file:
        return json.load(file)


def ranges_of(path):
    """(name, is_stack, step) of each record, in the order of the file."""
    made, at = [], 0
    with open(os.path.join(path, "FRAMEWORK/mindspore.op_range"), "rb") as file:
        data = file.read()
    while at < len(data):
        kind, length = struct.unpack_from("<HI", data, at)
        fixed = struct.unpack_from("<5Qi3Hb3?", data, at + 6)
        texts, inner = {}, at + 6 + 54
        while inner < at + 6 + length:
            text, n = struct.unpack_from("<HI", data, inner)
            texts[text] = data[inner + 6:inner + 6 + n].decode()
            inner += 6 + n
        assert kind == 0 and fixed[3] <= fixed[4]
        name = "::".join((texts[15], texts[16], texts[13])) if fixed[10] else texts[13]
        made.append((name, fixed[12], fixed[2]))
        at += 6 + length
    return made
