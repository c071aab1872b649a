/* SPDX-License-Identifier: Apache-2.0 */
/* all.h - the list of all layouts, for tests and fuzz targets. */
#ifndef ASCOPE_RAW_ALL_H
#define ASCOPE_RAW_ALL_H

#include "raw/layout.h"

extern const struct layout *const raw_layouts[]; /* tests/source/check_sources.py checks that it is complete */
extern const size_t n_raw_layouts;

#endif
