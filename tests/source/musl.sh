#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Everything in src compiles with musl, too: musl.sh SOURCE INCLUDES. INCLUDES is a folder for the headers of the libraries that are not
# the C library's: musl-gcc looks for nothing in /usr/include.
set -e
source=$1 includes=$2
mkdir -p "$includes"
for header in jansson.h jansson_config.h sqlite3.h zlib.h zconf.h linux asm asm-generic; do
    for folder in /usr/include "/usr/include/$(gcc -print-multiarch)"; do
        test ! -e "$folder/$header" || ln -sfn "$folder/$header" "$includes/$header"
    done
done
cd "$source"
find src -name '*.c' -print0 | xargs -0 -P "$(nproc)" -n 20 musl-gcc -fsyntax-only -std=gnu17 -Wall -Wextra -Werror -Wconversion \
    -D_GNU_SOURCE '-DASCOPE_VERSION="musl"' -include src/base/process/libc.h -Isrc -Iinclude -isystem "$includes"
echo "src compiles with musl"
