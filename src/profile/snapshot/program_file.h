/* SPDX-License-Identifier: Apache-2.0 */
/* program_file.h - which frames of a stack are the user's own: innermost ones are those of PyTorch, the same for all. */
#ifndef ASCOPE_PROFILE_SNAPSHOT_PROGRAM_FILE_H
#define ASCOPE_PROFILE_SNAPSHOT_PROGRAM_FILE_H

#include <stdbool.h>

/* A source file in Python, neither of PyTorch nor of another installed package. */
bool program_file(const char *file);

#endif
