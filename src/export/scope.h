/* scope.h - which part of a collection is wanted: all of it, some steps, or some iterations of a model. */
#ifndef ASCOPE_EXPORT_SCOPE_H
#define ASCOPE_EXPORT_SCOPE_H

#include "export/write.h"

/* Fills scope, window and presentation. False when what was asked for does not exist: e says what does. */
bool scope_resolve(struct export *x, const struct request *r, struct error *e);

#endif
