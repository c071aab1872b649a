#include "export/cann.h"
#include "export/export.h"
#include "export/hardware.h"

/* One row for each table file: its name, its name in the seed dialect where it is another one, and what it holds. */
const struct report reports[] = {
    { 0 },
};
const size_t n_reports = sizeof reports / sizeof *reports - 1;

/* One row for each process of the timeline: the word for it in a -reports file, and the file that it also gets alone. */
const struct track tracks[] = {
    {"cann",      NULL, cann_track },
    { "ascend", NULL, hardware_track },
    { 0  },
};
const size_t n_tracks = sizeof tracks / sizeof *tracks - 1;

/* The tables of the database, in groups. */
const struct db_writer db_writers[] = {
    { cann_db },
    { hardware_db },
    { 0 },
};
const size_t n_db_writers = sizeof db_writers / sizeof *db_writers - 1;
