/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - one of the kinds of devices for a session, and marks for whatever device a stream belongs to.
 *
 * "auto" asks the real kinds in order and takes the first that is there; it never takes the simulated one, which has to
 * be named. "none" is no device: the host is recorded alone.
 */
#ifndef ASCOPE_COLLECT_SESSION_DEVICES_H
#define ASCOPE_COLLECT_SESSION_DEVICES_H

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

#endif
