/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/snapshot/program_file.h"

#include <stddef.h>
#include <string.h>

bool program_file(const char *file)
{
    static const char *const packages[] = { "/site-packages/", "/dist-packages/", "/torch/", "/lib/python3" };
    static const char *const other_languages[] = { ".c", ".cc", ".cpp", ".cu", ".cxx", ".h", ".hpp", ".pyx", ".so" };
    const char *end = strrchr(file, '.');
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (strstr(file, packages[i]))
            return false;
    for (size_t i = 0; end && i < sizeof other_languages / sizeof *other_languages; i++)
        if (strcmp(end, other_languages[i]) == 0)
            return false;
    return file[0] && strcmp(file, "??") != 0 && (file[0] != '<' || strncmp(file, "<ipython", 8) == 0);
}
