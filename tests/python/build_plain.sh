#!/bin/sh
# Builds libascope.so.0 with a compiler alone, for machines without Meson: build_plain.sh OUT
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/build}
mkdir -p "$out"
sources=$(sed -n "/^collect_sources = files(/,/^)/s/^ *'\(.*\)',\$/\1/p" "$root/src/meson.build")
cd "$root/src"
# shellcheck disable=SC2086 # a list of files
${CC:-cc} -std=gnu17 -O2 -g -fwrapv -D_GNU_SOURCE -DASCOPE_VERSION='"0.1.0"' -fPIC -shared -fvisibility=hidden \
    -I. -I../include $sources -Wl,-soname,libascope.so.0 -o "$out/libascope.so.0" -lpthread -lm
