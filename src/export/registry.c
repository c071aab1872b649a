#include "export/export.h"

/* Filled as the outputs arrive: one row for each file, process and group of database tables. */
const struct report reports[] = { { 0 } };
const size_t n_reports = 0;
const struct track tracks[] = { { 0 } };
const size_t n_tracks = 0;
const struct db_writer db_writers[] = { { 0 } };
const size_t n_db_writers = 0;
