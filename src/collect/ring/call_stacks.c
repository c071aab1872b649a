/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ring/ring.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES_FIRST = 1024, TEXT_FIRST = 64 << 10 };

/* At least doubled, so that what is copied stays in proportion to what is kept. */
static bool call_stacks_grow(void **at, size_t *room, size_t wanted, size_t first, size_t item_bytes)
{
    if (wanted <= *room)
        return true;
    size_t more = *room ? *room * 2 : first;
    while (more < wanted)
        more *= 2;
    void *larger = realloc(*at, more * item_bytes);
    if (!larger)
        return false;
    memset((char *)larger + *room * item_bytes, 0, (more - *room) * item_bytes);
    *at = larger;
    *room = more;
    return true;
}

bool stacks_note(struct stacks *s, const uint8_t *record, size_t bytes)
{
    struct frame_bytes f;
    if (bytes < sizeof f)
        return false;
    memcpy(&f, record, sizeof f);
    if (f.text_bytes != bytes - sizeof f || f.text_bytes == 0 || f.id == 0 || f.id > FRAMES_MOST || f.caller >= f.id ||
        f.text_bytes > FRAMES_BYTES_MOST - s->n_text ||
        !call_stacks_grow((void **)&s->frame, &s->frames_room, (size_t)f.id + 1, FRAMES_FIRST, sizeof *s->frame) ||
        !call_stacks_grow((void **)&s->text, &s->text_room, s->n_text + f.text_bytes, TEXT_FIRST, 1))
        return false;
    memcpy(s->text + s->n_text, record + sizeof f, f.text_bytes);
    s->frame[f.id] = (struct stack_frame){ f.caller, f.text_bytes, s->n_text };
    s->n_text += f.text_bytes;
    if (f.id >= s->n_frames)
        s->n_frames = (size_t)f.id + 1;
    s->made_of = 0;
    return true;
}

static const struct stack_frame *frame_of(const struct stacks *s, uint32_t id)
{
    return id > 0 && id < s->n_frames && s->frame[id].n > 0 ? &s->frame[id] : NULL;
}

struct ascope_text stacks_label(const struct stacks *s, uint32_t label)
{
    const struct stack_frame *const f = frame_of(s, label);
    return f ? (struct ascope_text){ s->text + f->at, f->n } : (struct ascope_text){ NULL, 0 };
}

struct ascope_text stacks_text(struct stacks *s, uint32_t id)
{
    if (!frame_of(s, id))
        return (struct ascope_text){ NULL, 0 };
    if (s->made_of != id) {
        uint32_t n = 0;
        for (const struct stack_frame *f = frame_of(s, id); f; f = frame_of(s, f->caller)) {
            if (f->n + (n > 0) > STACK_BYTES_MOST - n)
                break;
            if (n > 0)
                s->made[n++] = ';';
            memcpy(s->made + n, s->text + f->at, f->n);
            n += f->n;
        }
        s->made_of = id;
        s->made_n = n;
    }
    return (struct ascope_text){ s->made, s->made_n };
}

void stacks_fini(struct stacks *s)
{
    free(s->frame);
    free(s->text);
    *s = (struct stacks){ 0 };
}
