/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/collection_load.h"

#include "load/framework/framework_load.h"
#include "load/prof/prof.h"

void collection_free(struct collection *s)
{
    framework_free(&s->framework);
    profile_free(&s->profile);
    arena_free(s->mem);
    *s = (struct collection){ 0 };
}
