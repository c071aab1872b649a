/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/command.h"

#include <string.h>

#include "export/output_options.h"
#include "report/term.h"

bool export_types_read(const char *text, unsigned *want)
{
    bool is_good = !text || *text;
    for (const char *word = text; is_good && word && *word;) {
        const size_t len = strcspn(word, ",");
        if (len == 4 && strncmp(word, "text", len) == 0)
            *want |= WANT_TEXT;
        else if (len == 2 && strncmp(word, "db", len) == 0)
            *want |= WANT_DB;
        else
            is_good = false;
        word += len + (word[len] == ',');
    }
    if (!is_good)
        complain("--export-type %s: accepted are text, db, and text,db", *text ? text : "\"\"");
    return is_good;
}
