/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a database that the viewer opens, and behind CUT its log. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "load/trace/trace_readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[] = "/tmp/ascope-fuzz-view-db-XXXXXX", log_path[sizeof path + 4];
    static int fd = -1, log_fd = -1;
    struct piece db = { 0 }, log = { 0 };
    if (fd < 0) {
        fd = mkstemp(path);
        snprintf(log_path, sizeof log_path, "%s-wal", path);
        log_fd = open(log_path, O_RDWR | O_CREAT | O_EXCL, 0600);
    }
    piece_next(&data, &size, &db);
    piece_next(&data, &size, &log);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, db.data, db.size, 0) != (ssize_t)db.size || ftruncate(log_fd, 0) != 0 ||
        (log.data && pwrite(log_fd, log.data, log.size, 0) != (ssize_t)log.size))
        abort();
    struct db_reader r;
    struct db_trace t;
    struct error e = { 0 };
    struct out o;
    if (!db_reader_open(&r, path, &e))
        return 0;
    for (int is_measured = 0; is_measured < 2 && out_open_memory(&o, &e); is_measured++) {
        struct chrome_trace trace = { 0 };
        if (db_trace_write(&t, &r, &o, is_measured) && !chrome_parse(&trace, o.buf, o.n, path, &e))
            abort(); /* what we write, we read */
        chrome_trace_free(&trace);
        out_discard(&o);
    }
    db_reader_close(&r);
    return 0;
}
