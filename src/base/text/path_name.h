/* SPDX-License-Identifier: Apache-2.0 */
/* path_name.h - the name in a path. */
#ifndef ASCOPE_BASE_TEXT_PATH_NAME_H
#define ASCOPE_BASE_TEXT_PATH_NAME_H

#include <string.h>

/* What follows the last "/"; all of a path without one. */
static inline const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#endif
