/* SPDX-License-Identifier: Apache-2.0 */
/* record_lttng_events.h - the events of record_lttng.c, in the form that LTTng's headers ask for: they include it
 * several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ascope_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./record_lttng_events.h"

#if !defined(ASCOPE_BENCH_RECORD_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ASCOPE_BENCH_RECORD_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(ascope_bench, range_begin,
                           LTTNG_UST_TP_ARGS(unsigned long, id, unsigned long, domain, const char *, message),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned long, id, id)
                                                   lttng_ust_field_integer(unsigned long, domain, domain)
                                                       lttng_ust_field_string(message, message)))

LTTNG_UST_TRACEPOINT_EVENT(ascope_bench, range_end, LTTNG_UST_TP_ARGS(unsigned long, id),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned long, id, id)))

#endif
#include <lttng/tracepoint-event.h>
