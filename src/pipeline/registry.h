/* SPDX-License-Identifier: Apache-2.0 */
/* registry.h - the registries of outputs of a PROF directory: reports, tracks of the timeline, tables of the database. */
#ifndef ASCOPE_PIPELINE_REGISTRY_H
#define ASCOPE_PIPELINE_REGISTRY_H

#include "export/export.h"

extern const struct registry prof_registry;

#endif
