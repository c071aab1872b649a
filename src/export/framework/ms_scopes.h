/* SPDX-License-Identifier: Apache-2.0 */
/* ms_scopes.h - layers of a network on the timeline: when the operators of each layer ran.
 *
 * Names of operators are paths ("Default/network-Net/conv-Conv2d/MatMul-op2"). Each component but the last is a layer;
 * its depth is the number of its track. A slice of a layer lasts as long as successive operators have that component at
 * that depth.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_MS_SCOPES_H
#define ASCOPE_EXPORT_FRAMEWORK_MS_SCOPES_H

#include "export/framework/collection_export.h"

bool ms_scopes_draw(const struct collection_export *x, struct trace *t); /* false: no memory */

#endif
