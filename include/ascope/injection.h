/* SPDX-License-Identifier: Apache-2.0 */
/* injection.h - what CUDA's driver calls in libascope.so when CUDA_INJECTION64_PATH names it: under the vendor's name,
 * and not for programs.
 *
 * `ascope run` sets the variable, and ASCOPE_CUDA_INJECTION with the directory of the collection.
 */
#ifndef ASCOPE_INJECTION_H
#define ASCOPE_INJECTION_H

#include "ascope/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records the GPUs of this process until it ends, if ASCOPE_CUDA_INJECTION says where. Errors: always 1, for which the
 * driver goes on; a warning says why nothing is recorded (ascope_on_message()). Threads: the one that initialises
 * CUDA. */
ASCOPE_API int InitializeInjection(void);

#ifdef __cplusplus
}
#endif

#endif
