#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/analyse/memory_timeline/op_schema_table.c: what PyTorch's operators take, and which of it they write to.

Only facts of the public registry of operators go into the table: names, how many arguments each overload has, whether an
argument is a tensor, and whether it is written to. It is made once and kept; nothing of this runs when ascope is built.

    apt-get install python3-torch && /usr/bin/python3 scripts/op_schemas.py > src/analyse/memory_timeline/op_schema_table.c
"""
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


def main():
    names = sorted({s.name for s in torch._C._jit_get_all_schemas()}, key=str.encode)
    version = ".".join(torch.__version__.split(".")[:2])
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print(f"/* Made by scripts/op_schemas.py: facts of the public registry of operators of PyTorch {version}. */")
    print('#include "analyse/memory_timeline/op_schemas.h"\n')
    print("/* clang-format off */")
    print("const struct op_schema op_schema_table[] = {")
    for name in names:
        overloads = {letters(s) for s in torch._C._jit_get_schemas_for_operator(name)}
        print(f'    {{ "{name}", "{" ".join(sorted(overloads, key=lambda o: (len(o), o)))}" }},')
    print("};\n/* clang-format on */")
    print("const size_t n_op_schemas = sizeof op_schema_table / sizeof *op_schema_table;")


if __name__ == "__main__":
    main()
