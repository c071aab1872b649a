/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/time_summary_db.h"

#include <sqlite3.h>
#include <sys/stat.h>

static const char *const places[] = { "", "/cluster_analysis.db", "/cluster_analysis_output/cluster_analysis.db" };

/* The first of the places that is a file. NULL: none is, or there is no memory. */
static const char *find(const char *path, struct arena *mem)
{
    struct stat st;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *const file = arena_printf(mem, "%s%s", path, places[i]);
        if (file && stat(file, &st) == 0 && S_ISREG(st.st_mode))
            return file;
    }
    return NULL;
}

static bool read_rows(sqlite3 *db, const char *file, struct time_rows *out, struct arena *mem, struct error *e)
{
    static const char sql[] =
        "SELECT rank, step, stepTime, computation, communicationNotOverlapComputation, communicationOverlapComputation,"
        " communication, free, communicationWaitStageTime, communicationTransmitStageTime, memory,"
        " memoryNotOverlapComputationCommunication FROM ClusterTimeSummary";
    sqlite3_stmt *s = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (code != SQLITE_OK)
        return error_set(e, FAULT_ASKED, "%s: no ClusterTimeSummary: %s; run -m cluster_time_summary on that job first",
                         file, sqlite3_errmsg(db));
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
    return code == SQLITE_DONE || error_set(e, FAULT_FORMAT, "%s: cannot be read: %s", file, sqlite3_errmsg(db));
}

bool time_summary_has(const char *path, struct arena *mem)
{
    return find(path, mem) != NULL;
}

bool time_summary_read(const char *path, struct time_rows *out, struct arena *mem, struct error *e)
{
    const char *const file = find(path, mem);
    sqlite3 *db = NULL;
    if (!file)
        return error_set(e, FAULT_ASKED, "%s: no cluster_analysis.db; run -m cluster_time_summary on that job first",
                         path);
    bool works = sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK;
    if (works) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        works = read_rows(db, file, out, mem, e);
    } else {
        error_set(e, FAULT_IO, "%s: cannot be opened: %s", file, db ? sqlite3_errmsg(db) : no_memory_text());
    }
    sqlite3_close(db);
    return works;
}
