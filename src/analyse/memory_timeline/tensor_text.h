/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_text.h - tensors, as PyTorch's side writes them into its records: text of a grammar of its own.
 *
 *   tensor     object;storage;type;element size;sizes;strides;device type;device     storage may be empty; lists with ","
 *   tensors    tensor)tensor)...                     the inputs of an operator that are tensors
 *   lists      tensor)tensor)}tensor)}...            its inputs that are lists of tensors
 *   modules    name)tensor)gradient}...              the gradient may be empty
 *   optimizers tensor)gradient)name>tensor]...}...   what the optimizer keeps for a parameter stands at the end
 *
 * The text comes from files and is validated. What does not follow the grammar is not a tensor.
 */
#ifndef ASCOPE_ANALYSE_MEMORY_TIMELINE_TENSOR_TEXT_H
#define ASCOPE_ANALYSE_MEMORY_TIMELINE_TENSOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a text that is not owned. */
struct text_span {
    const char *at;
    size_t len;
};

/* Iterates over the parts between separators: "a)b)" has three parts, the last one empty; "" has one. */
struct pieces {
    struct text_span rest;
    bool is_over;
};
struct pieces pieces_of(struct text_span text); /* without blanks around the text; a text that is NULL has no parts */
bool pieces_next(struct pieces *p, char separator, struct text_span *part);

struct tensor {
    bool has_storage;
    uint64_t pointer; /* of its storage */
    uint64_t bytes;   /* sizes times element size */
    int32_t device_type, device;
};
/* False: that is no tensor. */
bool tensor_read(struct text_span text, struct tensor *out);

/* The inputs of an operator in their order. */
struct op_texts {
    struct pieces types, tensors, lists, scalars;
};
void op_texts_find(struct op_texts *t, const uint8_t *record, size_t size); /* the whole record of torch.op_range */

struct op_input {
    uint8_t kind;          /* enum input_kind; a list is INPUT_TENSORS until its tensors were read */
    bool is_damaged;       /* should have been a tensor */
    struct tensor tensor;  /* of INPUT_TENSOR and of INPUT_OTHER that is a tensor without storage */
    struct pieces tensors; /* of INPUT_TENSORS, to be split at ")" */
};
bool op_texts_next(struct op_texts *t, struct op_input *in);

#endif
