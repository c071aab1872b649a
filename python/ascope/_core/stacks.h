/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - the Python stack of the calling thread, for its operators. Without the GIL, and without waiting for
 * anybody.
 *
 * An operator refers to its stack by the number of the innermost frame. Where frames cannot be announced (there are too
 * many), it has the stack as a text. All of them: 0 where the thread has no calls that are traced now.
 */
#ifndef ASCOPE_PYTHON_STACKS_H
#define ASCOPE_PYTHON_STACKS_H

#include <stddef.h>
#include <stdint.h>

uint32_t stack_frame(void);                        /* as ascope_frame() gives it; 0 as well: no room for more frames */
size_t stack_words(char *out, size_t most);        /* frames with ';' between them, the innermost first; their length */
size_t stack_module_words(char *out, size_t most); /* the same of modules */

#endif
