/* SPDX-License-Identifier: Apache-2.0 */
/* ascope.h - all of libascope's stable interface: session.h (a collection), recorder_options.h (what can be recorded),
 * load.h (options from acl.json and profiling_options), schedule.h (which steps), dynamic.h (collections of a running
 * job), flight.h (a flight recorder), monitor.h (each step, always), record.h (what the program does), mark.h (the
 * user's own marks), request.h (requests of a server), graph.h (captured graphs), version.h.
 *
 * Not included: mstx.h (marks under the vendor's names), nvtx.h (for NVTX, which calls it by itself), ascope.hpp (C++),
 * and sim.h (the simulated NPU), which is not stable. */
#ifndef ASCOPE_ASCOPE_H
#define ASCOPE_ASCOPE_H

#include "ascope/dynamic.h"
#include "ascope/graph.h"
#include "ascope/load.h"
#include "ascope/mark.h"
#include "ascope/monitor.h"
#include "ascope/record.h"
#include "ascope/recorder_options.h"
#include "ascope/request.h"
#include "ascope/schedule.h"
#include "ascope/session.h"
#include "ascope/flight.h"
#include "ascope/version.h"

#endif
