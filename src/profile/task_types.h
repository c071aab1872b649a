/* SPDX-License-Identifier: Apache-2.0 */
/* task_types.h - what tasks of a device do, by their types as reports show them. */
#ifndef ASCOPE_PROFILE_TASK_TYPES_H
#define ASCOPE_PROFILE_TASK_TYPES_H

#include <stddef.h>

enum task_does {
    TASK_UNKNOWN,
    TASK_CONTROLS, /* events, notifications, parts of collectives */
    TASK_COMPUTES,
    TASK_COPIES
};

/* "AI_CORE", "KERNEL_AIVEC", "SDMA_SQE". */
enum task_does task_type_does(const char *type, size_t len);

#endif
