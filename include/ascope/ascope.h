/* ascope.h - all of libascope. The stories, one header each: session.h (a collection), recorder_options.h (what can be recorded), schedule.h (which steps), record.h (what the
 * program does), mark.h (the user's own marks; mstx.h under their usual names), sim.h (a device for machines without one). */
#ifndef ASCOPE_ASCOPE_H
#define ASCOPE_ASCOPE_H

#include "ascope/mark.h"
#include "ascope/record.h"
#include "ascope/recorder_options.h"
#include "ascope/schedule.h"
#include "ascope/session.h"
#include "ascope/sim.h"

#endif
