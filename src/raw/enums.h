/* SPDX-License-Identifier: Apache-2.0 */
/* enums.h - names of the numbers in records. */
#ifndef ASCOPE_RAW_ENUMS_H
#define ASCOPE_RAW_ENUMS_H

#include <stddef.h>
#include <stdint.h>

struct enum_name {
    uint32_t value;
    const char *name;
};

struct enum_table {
    const struct enum_name *name; /* ascending by value */
    size_t n;
};

extern const struct enum_table ge_task_types, ge_data_types, ge_formats;
extern const struct enum_table reduce_ops, hccl_data_types, hccl_links, hccl_transports, hccl_rdmas, hccl_roles;
extern const struct enum_table memcpy_kinds, mark_events;
extern const struct enum_table modules; /* modules of the system software, which allocate memory and write logs */
extern const struct enum_table sqe_types, sqe_950_types, hwts_types, context_types; /* hwts: on chips without STARS */

/* Numbers of task types that the analysis knows by name. */
enum { GE_AI_CPU = 1, GE_FFTS_PLUS = 6, GE_COMMUNICATION = 9, GE_HCCL_AI_CPU = 256 };
enum { SQE_AI_CORE = 0, SQE_AI_CPU = 1, SQE_PLACE_HOLDER = 3, SQE_EVENT_RECORD = 4, SQE_C_CORE = 20 };
enum { RDMA_SEND_PAYLOAD = 1 };
enum { TRANSPORT_SDMA = 0, TRANSPORT_RDMA = 1, TRANSPORT_LOCAL = 2 };
enum { HCCL_LINK_ON_CHIP = 0, HCCL_LINK_HCCS = 1, HCCL_LINK_PCIE = 2, HCCL_LINK_SIO = 4, HCCL_LINK_HCCS_SW = 5 };

/* NULL when the table does not know the value. */
const char *enum_text(const struct enum_table *t, uint32_t value);

#endif
