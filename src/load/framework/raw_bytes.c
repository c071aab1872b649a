/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/framework_loaders.h"

#include <string.h>

#include "base/files/file.h"

static void raw_bytes_add(void *sum, const char *path, const struct stat *st)
{
    if (strstr(path, "/data/") || strstr(path, "/FRAMEWORK/"))
        *(uint64_t *)sum += (uint64_t)st->st_size;
}

uint64_t raw_bytes(const char *path)
{
    uint64_t sum = 0;
    dir_walk(path, raw_bytes_add, &sum);
    return sum;
}
