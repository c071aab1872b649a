/* SPDX-License-Identifier: Apache-2.0 */
/* Records a program that does not know ascope: `ascope run` has put libmspti.so and libascope.so into LD_PRELOAD. If
 * the program is linked with libascendcl.so, a session is open from here to the end of the process, in the directory
 * that the collector has named. Programs that load ACL later (Python) have front ends instead. Only libascope.so has
 * this file. */
#include "collect/session/injected_session.h"
#include "collect/session/recorder_session.h"
#include "device/ascend/ascend_library.h"
#include "device/ascend/mspti.h"
#include "device/ascend/mspti_records.h"

__attribute__((constructor(65535))) static void mspti_injection(void)
{
    const char *where;
    if (!injected_is_asked("ASCOPE_MSPTI_INJECTION", &where) || !ascend_is_loaded(ASCEND_ACL))
        return;
    mspti_at_first(session_end_earlier); /* the session must end before ACL does at exit */
    injected_begin(where, mspti_kind.name);
}
