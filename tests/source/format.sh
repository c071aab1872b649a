#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The layout of the sources is what clang-format decides: format.sh ROOT. Other versions than the one that `make format` is used with
# decide otherwise, so without version 14 it is left out (exit code 77).
cd "$1" || exit 1
for program in clang-format-14 clang-format none; do
    "$program" --version 2>/dev/null | grep -q 'version 14\.' && break
done
if test "$program" = none; then
    echo "left out: no clang-format 14"
    exit 77
fi
find bench examples fuzz include python src tests \( -name data -o -name node_modules \) -prune -o \
    \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 -n 50 -P 2 "$program" --dry-run --Werror || { echo "make format mends it"; exit 1; }
