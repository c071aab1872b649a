/* SPDX-License-Identifier: Apache-2.0 */
/* prove_checks.h - compares an exported collection with what is known of its program. */
#ifndef ASCOPE_PROVE_PROVE_CHECKS_H
#define ASCOPE_PROVE_PROVE_CHECKS_H

#include "pipeline/prof_write.h"
#include "prove/prove.h"
#include "prove/prove_programs.h"

void prove_check_all(struct prove_run *run, const struct prove_facts *f, const struct result *r);

#endif
