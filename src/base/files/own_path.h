/* SPDX-License-Identifier: Apache-2.0 */
/* own_path.h - the path of the program that this process runs. */
#ifndef ASCOPE_BASE_FILES_OWN_PATH_H
#define ASCOPE_BASE_FILES_OWN_PATH_H

#include <limits.h>
#include <stdbool.h>

/* Without /proc, by the name with which it was started. False: see errno, and `out` is empty. */
bool own_path(char out[PATH_MAX]);

#endif
