/* session_matrix.h - who sent how much to whom, of the collectives of a session: only session_communication.c needs this.
 *
 * Of all collectives of a step that are of the same type, in the same group and over the same link, the fastest, the middle one, the
 * three slowest and their sum are told.
 */
#ifndef ASCOPE_EXPORT_SESSION_MATRIX_H
#define ASCOPE_EXPORT_SESSION_MATRIX_H

#include "export/session_collectives.h"

bool session_matrix_json(struct session_collectives *c, struct out *o); /* false only without memory */
bool session_matrix_db(struct session_collectives *c, struct db *db, struct error *e);

/* "allreduce" of "hcom_allReduce__483_0_1": the first word in it that is known, of two in the same place the first of our list. Of
 * one that nobody knows, what is before "__". */
name_id collective_type(struct names *names, name_id collective);

#endif
