/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a database that the viewer opens. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "load/chrome_load.h"
#include "view/db_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[] = "/tmp/ascope-fuzz-view-db-XXXXXX";
    static int fd = -1;
    if (fd < 0 && (fd = mkstemp(path)) < 0)
        abort();
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    struct db_reader r;
    struct db_trace t;
    struct error e = { 0 };
    struct out o;
    if (!db_reader_open(&r, path, &e))
        return 0;
    if (out_open_memory(&o, &e)) {
        struct chrome_trace trace = { 0 };
        if (db_trace_write(&t, &r, &o) && !chrome_parse(&trace, o.buf, o.n, path, &e))
            abort(); /* what we write, we read */
        chrome_trace_free(&trace);
        out_discard(&o);
    }
    db_reader_close(&r);
    return 0;
}
