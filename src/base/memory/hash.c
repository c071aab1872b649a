/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/hash.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t hash_seed = 0x2545F4914F6CDD1D;

/* The system hands sixteen random bytes to every new process; where it does not, the number is a fixed one. */
__attribute__((constructor)) static void take_seed(void)
{
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM); /* NULL: none */
    if (random)
        memcpy(&hash_seed, random, sizeof hash_seed);
}
