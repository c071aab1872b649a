/* SPDX-License-Identifier: Apache-2.0 */
/* plain_pickle.h - reads pickles of plain values, protocols 2 to 5, and executes nothing. */
#ifndef ASCOPE_LOAD_PLAIN_PLAIN_PICKLE_H
#define ASCOPE_LOAD_PLAIN_PLAIN_PICKLE_H

#include "load/plain/plain_value.h"

bool plain_pickle_read(struct plain *p, const uint8_t *bytes, size_t n, const char *name, struct arena *mem,
                       struct error *e);

#endif
