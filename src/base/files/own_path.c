/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/own_path.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

bool own_path(char out[PATH_MAX])
{
    const ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    const char *started = n > 0 ? NULL : (const char *)getauxval(AT_EXECFN);
    out[n > 0 ? n : 0] = '\0';
    if (n > 0 || (started && realpath(started, out)))
        return true;
    out[0] = '\0';
    return false;
}
