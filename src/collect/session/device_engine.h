/* SPDX-License-Identifier: Apache-2.0 */
/* device_engine.h - a device whose vendor has an engine that writes a PROF directory by itself: that directory becomes
 * the session's.
 *
 * The engine names its directory when it starts or warms up. From then on it is the session's, too: marks and samples
 * of the host go into slices of their own beside the engine's (SLICE_BESIDE of family.h), and after the end
 * descriptions that the engine did not write are added. Its own files are never changed. Where the directory is not
 * found, the session has one of its own, and both stay. An engine that does not start is given up: the host is recorded
 * alone.
 */
#ifndef ASCOPE_COLLECT_SESSION_DEVICE_ENGINE_H
#define ASCOPE_COLLECT_SESSION_DEVICE_ENGINE_H

#include "collect/session/recorder_session.h"

enum engine_state {
    ENGINE_NONE,    /* the device has none, or it was given up */
    ENGINE_WAITS,   /* it warms up, and has no directory yet: so has the session */
    ENGINE_ADOPTED, /* its directory is the session's */
    ENGINE_APART,   /* it runs, and its directory is not the session's */
};

bool engine_is_of(const struct ascope_session *s); /* the session's device has an engine */
enum engine_state engine_begin(struct ascope_session *s, bool warms_up);
bool engine_devices(struct ascope_session *s, struct error *e); /* after the end: those that it has recorded */
void engine_forget(struct ascope_session *s);                   /* as if it had never begun; it does not run */

#endif
