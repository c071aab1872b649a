/* registry.h - the registries of outputs of a PROF directory: reports, tracks of the timeline, tables of the database. */
#ifndef ASCOPE_PIPELINE_REGISTRY_H
#define ASCOPE_PIPELINE_REGISTRY_H

#include "export/export.h"

extern const struct report reports[];
extern const size_t n_reports;
extern const struct track tracks[];
extern const size_t n_tracks;
extern const struct db_writer db_writers[];
extern const size_t n_db_writers;

#endif
