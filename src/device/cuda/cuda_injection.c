/* SPDX-License-Identifier: Apache-2.0 */
/* Records a program that does not know ascope: while the program initialises CUDA's driver, the driver loads the
 * library that CUDA_INJECTION64_PATH names and calls InitializeInjection(). From then to the end of the process a
 * session of this process is open, in the directory that the collector (`ascope run`) has named. Only libascope.so has
 * this file. */
#include <stdatomic.h>

#include "ascope/injection.h"
#include "collect/session/injected_session.h"
#include "collect/session/recorder_session.h"
#include "device/cuda/cuda.h"

/* Always returns 1: with another value the driver would not let the program use CUDA. */
int InitializeInjection(void)
{
    static atomic_flag was_called = ATOMIC_FLAG_INIT;
    const char *where;
    if (!injected_is_asked("ASCOPE_CUDA_INJECTION", &where) || atomic_flag_test_and_set(&was_called))
        return 1;
    buffers_at_first(session_end_earlier); /* the session must end before the driver does at exit */
    cuda_in_init(true);
    injected_begin(where, cuda_kind.name);
    cuda_in_init(false);
    return 1;
}
