#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds libascope.so.0, and with PYTHON the package for it in OUT/python, with a compiler alone, for machines without Meson:
# build_plain.sh OUT [PYTHON]
set -e
root=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:-$root/build}
python=$2
mkdir -p "$out"
out=$(cd "$out" && pwd)
sources=$(cd "$root/src" && for list in */meson.build */*/meson.build; do
    sed -n "/^recorder_sources += files(/,/^)/s|^ *'\(.*\)',\$|${list%/*}/\1|p" "$list"
done)
version=$(sed -n "s/^project.* version: '\([^']*\)'.*/\1/p" "$root/meson.build")
mkdir -p "$out/include/ascope"
IFS=. read -r major minor patch <<V
$version
V
sed "s/@major@/$major/; s/@minor@/$minor/; s/@patch@/$patch/" "$root/include/ascope/version.h.in" >"$out/include/ascope/version.h"
cd "$root/src"
# shellcheck disable=SC2086 # a list of files
${CC:-cc} -std=gnu17 -O2 -g -fwrapv -D_GNU_SOURCE -DASCOPE_VERSION="\"$version\"" -fPIC -shared -fvisibility=hidden \
    -I. -I../include -I"$out/include" $sources -Wl,-soname,libascope.so.0 -o "$out/libascope.so.0" -lpthread -lm
[ -n "$python" ] || exit 0
mkdir -p "$out/python"
cp -r "$root/python/ascope" "$out/python/"
cp -r "$root/include" "$out/python/ascope/"
cp "$out/include/ascope/version.h" "$out/python/ascope/include/ascope/"
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
cd "$root/python/ascope/_core"
${CC:-cc} -std=gnu17 -O2 -g -fwrapv -Wall -Werror -D_GNU_SOURCE -DASCOPE_VERSION="\"$version\"" -fPIC -shared -fvisibility=hidden \
    -I"$out/python/ascope/include" -I"$root/src" -isystem "$headers" ./*.c -o "$out/python/ascope/_core$suffix" "$out/libascope.so.0" \
    -Wl,-rpath,"$out" -lpthread
rm -r "$out/python/ascope/_core"
