/* SPDX-License-Identifier: Apache-2.0 */
/* framework_values.h - what numbers mean in the records and columns of a framework.
 *
 * They are those of PyTorch's files, which are loaded as they are. The loader of another framework sets the same ones.
 */
#ifndef ASCOPE_RAW_FRAMEWORK_VALUES_H
#define ASCOPE_RAW_FRAMEWORK_VALUES_H

enum { TLV_HEAD = 6 }; /* type and length, which come before each record and each text */

/* Of an operator; 0: an ordinary call. */
enum { OP_SCOPE_BACKWARD = 1, OP_SCOPE_USER = 7 };

/* Of an event of an allocator: where the block is, whose it is, what happened to it. */
enum { MEMORY_ON_CPU = 0, MEMORY_ON_CUDA = 1, MEMORY_ON_NPU = 20 };
enum { COMPONENT_CACHING, COMPONENT_WORKSPACE };
enum { MEMORY_MALLOC, MEMORY_FREE, MEMORY_BLOCK_FREE };
enum { ALLOCATOR_INNER };

#endif
