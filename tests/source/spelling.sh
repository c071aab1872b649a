#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No misspelt words in sources and documents: spelling.sh ROOT. Words that only look so are in .codespellrc.
cd "$1" || exit 1
if ! command -v codespell >/dev/null; then
    echo "left out: no codespell"
    exit 77
fi
exec codespell .
