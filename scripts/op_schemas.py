#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
r"""Writes src/analyse/memory_timeline/op_schema_table.c: what PyTorch's operators take, and which of it they write to.

Only facts of public registries of operators go into the table: names, how many arguments each overload has, whether an
argument is a tensor, and whether it is written to. It is made once and kept; nothing of this runs when ascope is built.

The registry of the PyTorch that is installed has the operators that are written in C++ alone. Newer releases add what
their lists say, which are files with "func: NAME(ARGUMENTS) -> RESULTS", the older ones first: native_functions.yaml of
PyTorch (torchgen/packaged/ATen/native in its wheel), then op_plugin_functions.yaml and npu_native_functions.yaml of torch_npu,
whose own operators have the prefix npu::. An overload of any of them counts: records do not say which release ran.

    apt-get install python3-torch
    /usr/bin/python3 scripts/op_schemas.py native_functions.yaml op_plugin_functions.yaml npu_native_functions.yaml \
        > src/analyse/memory_timeline/op_schema_table.c
"""
import collections
import re
import sys

import torch

ANY, TENSOR, LIST, OTHER = "a", "t", "l", "s"
OPTIONAL = {TENSOR: "o", LIST: "p"}  # whatever else may be left out takes what an argument of no tensor takes


def kind(type_):
    if isinstance(type_, torch._C.OptionalType):
        inner = kind(type_.getElementType())
        return OPTIONAL.get(inner, inner)
    if isinstance(type_, torch._C.AnyType):
        return ANY
    if isinstance(type_, torch._C.TensorType):
        return TENSOR
    return LIST if type_.isSubtypeOf(torch._C.ListType.ofTensors()) else OTHER


def letters(schema):
    written = [a.alias_info is not None and a.alias_info.is_write for a in schema.arguments]
    return "".join(kind(a.type).upper() if w else kind(a.type) for a, w in zip(schema.arguments, written)) or "."


def listed(path, found):
    """Adds the operators of a list. Sections of torch_npu's lists other than PyTorch's have some that are its own."""
    section = None
    with open(path) as f:
        for line in f:
            heading = re.match(r"(\w+):", line)
            section = heading[1] if heading else section
            schema = re.match(r"\s*- func: *(([a-z0-9_]+::)?(\w+)(\.\w+)?\(.*\)) *->", line)
            if not schema:
                continue
            full, prefix, name = schema[1], schema[2], schema[3]
            is_own = section not in (None, "official", "supported") and "aten::" + name not in found
            prefix = prefix or ("npu::" if is_own else "aten::")
            text = ("" if schema[2] else prefix) + full.replace("DeviceIndex", "int")  # a type that older parsers do not know
            found[prefix + name].add(letters(torch._C.parse_schema(text + " -> ()")))


def main():
    found = collections.defaultdict(set)
    for s in torch._C._jit_get_all_schemas():
        found[s.name].add(letters(s))
    for path in sys.argv[1:]:
        listed(path, found)
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print("/* Made by scripts/op_schemas.py: facts of the public registries of operators of PyTorch and torch_npu. */")
    print('#include "analyse/memory_timeline/op_schemas.h"\n')
    print("/* clang-format off */")
    print("const struct op_schema op_schema_table[] = {")
    for name in sorted(found, key=str.encode):
        print(f'    {{ "{name}", "{" ".join(sorted(found[name], key=lambda o: (len(o), o)))}" }},')
    print("};\n/* clang-format on */")
    print("const size_t n_op_schemas = sizeof op_schema_table / sizeof *op_schema_table;")


if __name__ == "__main__":
    main()
