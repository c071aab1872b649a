/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/modes/time_summary_db.h"

#include <sys/stat.h>

#include "base/files/inside.h"
#include "base/sqlite/untrusted_db.h"

static const char *const places[] = { "", "/cluster_analysis.db", "/cluster_analysis_output/cluster_analysis.db" };

/* The first of the places that is a file. NULL: none is, or there is no memory. */
static const char *time_summary_db_find(const char *path, struct arena *mem)
{
    struct stat st;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *const file = arena_printf(mem, "%s%s", path, places[i]);
        if (file && inside_stat(file, &st) == 0 && S_ISREG(st.st_mode))
            return file;
    }
    return NULL;
}

static bool read_rows(struct untrusted_db *u, const char *file, struct time_rows *out, struct arena *mem,
                      struct error *e)
{
    static const char sql[] =
        "SELECT rank, step, stepTime, computation, communicationNotOverlapComputation, communicationOverlapComputation,"
        " communication, free, communicationWaitStageTime, communicationTransmitStageTime, memory,"
        " memoryNotOverlapComputationCommunication FROM ClusterTimeSummary";
    sqlite3_stmt *s = NULL;
    bool is_there;
    int code = untrusted_db_look(u, "ClusterTimeSummary", &is_there) && is_there
                   ? sqlite3_prepare_v2(u->db, sql, -1, &s, NULL)
                   : SQLITE_ERROR;
    if (code != SQLITE_OK)
        return error_set(e, FAULT_ASKED, "%s: no ClusterTimeSummary: %s; run -m cluster_time_summary on that job first",
                         file, is_there ? untrusted_db_trouble(u) : "no such table");
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        struct time_row *const row = list_add(&out->rows, mem);
        if (!row)
            break;
        row->rank = sqlite3_column_int64(s, 0);
        row->step = sqlite3_column_int64(s, 1);
        for (int i = 0; i < TIME_VALUES; i++)
            row->us[i] = sqlite3_column_double(s, 2 + i);
    }
    sqlite3_finalize(s);
    if (code == SQLITE_ROW)
        return error_no_memory(e, file);
    return code == SQLITE_DONE || error_set(e, FAULT_FORMAT, "%s: cannot be read: %s", file, untrusted_db_trouble(u));
}

bool time_summary_has(const char *path, struct arena *mem)
{
    return time_summary_db_find(path, mem) != NULL;
}

bool time_summary_read(const char *path, struct time_rows *out, struct arena *mem, struct error *e)
{
    const char *const file = time_summary_db_find(path, mem);
    struct untrusted_db u;
    if (!file)
        return error_set(e, FAULT_ASKED, "%s: no cluster_analysis.db; run -m cluster_time_summary on that job first",
                         path);
    if (!untrusted_db_open(&u, file, e))
        return false;
    if (u.log_trouble[0])
        out->log_trouble = arena_printf(mem, "%s-wal: %s", file, u.log_trouble);
    const bool works = read_rows(&u, file, out, mem, e);
    untrusted_db_close(&u);
    return works;
}
