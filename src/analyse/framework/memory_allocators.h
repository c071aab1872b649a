/* SPDX-License-Identifier: Apache-2.0 */
/* memory_allocators.h - the allocators of a framework, each of which reports its own totals. */
#ifndef ASCOPE_ANALYSE_FRAMEWORK_MEMORY_ALLOCATORS_H
#define ASCOPE_ANALYSE_FRAMEWORK_MEMORY_ALLOCATORS_H

#include "profile/collection.h"

/* A key of the allocator of a row of framework_memory. Keys ascend in the order of display: devices, then the host. */
uint64_t memory_allocator_key(const struct collection *s, size_t row);
const char *memory_allocator_name(uint64_t key, struct arena *mem); /* "NPU 0"; NULL: no memory */

#endif
