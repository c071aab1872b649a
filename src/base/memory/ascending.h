/* SPDX-License-Identifier: Apache-2.0 */
/* ascending.h - ascending orders of plain values, for qsort() and bsearch(). */
#ifndef ASCOPE_BASE_MEMORY_ASCENDING_H
#define ASCOPE_BASE_MEMORY_ASCENDING_H

int compare_doubles(const void *a, const void *b);
int compare_i64s(const void *a, const void *b);
int compare_u64s(const void *a, const void *b);
int compare_u32s(const void *a, const void *b);
int compare_texts(const void *a, const void *b); /* of pointers to them, by their bytes */

#endif
