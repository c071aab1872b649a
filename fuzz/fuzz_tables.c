/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a table of results that the viewer opens, CSV or JSON, and as a compressed trace. The first byte says
 * which. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "load/trace/trace_readers.h"
#include "view/rows/view_input.h"

static char dir[] = "/tmp/ascope-fuzz-tables-XXXXXX";
static const char *const names_of[] = { "a.csv", "a.json", "a.json.gz" };
enum { FILES = sizeof names_of / sizeof *names_of, PACKED = 2 };

static void load_tables(void)
{
    struct error e = { 0 };
    struct view_input in = { .path = dir, .mem = arena_new() };
    if (!in.mem || view_tables_load(&in, &e) != (in.db_tables.n > 0) ||
        (in.db_tables.n == 0 && e.fault != FAULT_FORMAT))
        abort();
    chrome_trace_free(&in.trace);
    arena_free(in.mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_made;
    char path[FILES][64];
    if (size == 0)
        return 0;
    if (!is_made && !(is_made = mkdtemp(dir) != NULL))
        abort();
    for (size_t i = 0; i < FILES; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", dir, names_of[i]);
        unlink(path[i]);
    }
    const size_t which = data[0] % FILES;
    FILE *f = fopen(path[which], "w");
    if (!f || fwrite(data + 1, 1, size - 1, f) != size - 1 || fclose(f) != 0)
        abort();
    struct chrome_trace t;
    struct error e = { 0 };
    if (which != PACKED)
        load_tables();
    else if (chrome_load(&t, path[PACKED], &e))
        chrome_trace_free(&t);
    return 0;
}
