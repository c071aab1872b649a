/* SPDX-License-Identifier: Apache-2.0 */
/* ms_scopes.h - layers of a network on the timeline: when operators of each scope ran.
 *
 * Names of operators are paths ("Default/network-Net/conv-Conv2d/MatMul-op2"): each component but the last is a layer, and its depth is
 * the row. A layer lasts as long as successive operators have it in the same place.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_MS_SCOPES_H
#define ASCOPE_EXPORT_FRAMEWORK_MS_SCOPES_H

#include "export/framework/collection_export.h"

bool ms_scopes_draw(const struct collection_export *x, struct trace *t); /* false: no memory */

#endif
