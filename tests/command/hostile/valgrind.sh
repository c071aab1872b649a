#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One small export under valgrind, which sees what the sanitizers do not: reads of memory that nobody wrote.
#   valgrind.sh ASCOPE PROF_XXX
set -eu
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,possible \
    "$1" export all -dir "$2" --out "$out" --threads 2 --quiet
