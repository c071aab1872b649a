/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - registry: one of the kinds of devices for a session, and marks for whatever device a stream belongs to.
 *
 * "auto" asks the real kinds in order and takes the first that is there; it never takes the simulated one, which has to
 * be named. "none" is no device: the host is recorded alone.
 */
#ifndef ASCOPE_COLLECT_SESSION_DEVICES_H
#define ASCOPE_COLLECT_SESSION_DEVICES_H

#include "collect/session/recorder_session.h"
#include "device/device.h"

/* NULL with e set: no such name. NULL without: "none", or "auto" and no real device, which is reported with what was
 * looked for. */
const struct device_kind *device_choose(const char *name, struct error *e);

/* The real devices that "auto" takes. */
enum { ONLINE_MOST = 64 };
struct devices_online {
    int chip; /* platform number of the first; -1: there are none, or no NPUs */
    unsigned id[ONLINE_MOST];
    size_t n;
};
void devices_online(struct devices_online *out);

/* Launches a mark on a stream: when the device comes to it, it stamps the time under this id (of the mark, or of the
 * range: once when it begins, once when it ends). For any thread. A stream that no device knows is left alone. */
void device_mark(void *stream, uint64_t id);

/* ascope_graph_watch_begin(), ascope_graph_watch_end(), of the kind that the program uses. False: no kind watches; why
 * is reported, once. */
bool device_watch_graphs(bool is_on);

/* device_engine.c: a device whose vendor has an engine that writes a PROF directory by itself: that directory becomes
 * the session's.
 *
 * The engine names its directory when it starts or warms up. From then on it is the session's, too: marks and samples
 * of the host go into slices of their own beside the engine's (SLICE_BESIDE of family.h), and after the end
 * descriptions that the engine did not write are added. Its own files are never changed. Where the directory is not
 * found, the session has one of its own, and both stay. An engine that does not start is given up: the host is
 * recorded alone. */

enum engine_state {
    ENGINE_NONE,    /* the device has none, or it was given up */
    ENGINE_WAITS,   /* it warms up, and has no directory yet: so has the session */
    ENGINE_ADOPTED, /* its directory is the session's */
    ENGINE_APART,   /* it runs, and writes to a directory of its own */
};

bool engine_is_of(const struct ascope_session *s); /* the session's device has an engine */
enum engine_state engine_begin(struct ascope_session *s, bool warms_up);
/* after the end: adds the devices that it has recorded */
bool engine_devices(struct ascope_session *s, struct error *e);
/* resets the state of an engine that does not run */
void engine_forget(struct ascope_session *s);

#endif
