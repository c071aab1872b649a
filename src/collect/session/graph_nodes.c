/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/graph_nodes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ascope/graph.h"
#include "collect/ring/record_bytes.h"
#include "collect/ring/record_text.h"
#include "collect/ring/ring.h"
#include "collect/session/devices.h"
#include "collect/session/message.h"
#include "raw/name_hash.h"
#include "raw/torch.h"

enum { NODES_MOST = 1 << 20, TEXT_MOST = 64 << 20, SHORT_WAIT_NS = 200000, FIRST_ROOM = 1024 };

/* Numbers in the order in which they were added, found by open addressing. */
struct places {
    uint64_t *key;
    uint32_t *slot; /* place of a key + 1; 0: free. Twice as many as there is room for keys */
    uint32_t n, room;
};

struct graph_text {
    char *at;
    uint32_t n, written_in; /* the last session that has it as a stack */
};

/* An operator, by its number - 1. Texts are places, in the order of struct ascope_graph_op. */
struct graph_op {
    uint32_t text[GRAPH_NODE_TEXTS], written_in; /* the last session that has its texts */
};

static struct {
    pthread_mutex_t lock;
    struct places node, text; /* ids of nodes; hashes of texts */
    uint32_t *op_of;          /* by place of a node: the number of its operator */
    struct graph_text *text_at;
    struct graph_op *op;
    uint32_t op_of_room, text_room, n_ops, op_room;
    size_t text_bytes;
    uint32_t session, n_written; /* nodes that the session has */
    bool is_full;                /* the message about it was sent */
} graphs = { .lock = PTHREAD_MUTEX_INITIALIZER };

static __thread uint32_t open_op __attribute__((tls_model("initial-exec"))); /* number of an operator; 0: none */

/* Room for one more. False: no memory. */
static bool room_for(void *array, uint32_t n, uint32_t *room, size_t size)
{
    void **const at = array;
    if (n < *room)
        return true;
    const uint32_t more = *room ? *room * 2 : FIRST_ROOM;
    void *const new = realloc(*at, more * size);
    if (!new)
        return false;
    *at = new;
    *room = more;
    return true;
}

static uint32_t *places_slot(const struct places *p, uint64_t key)
{
    const uint32_t mask = p->room * 2 - 1;
    uint32_t i = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (p->slot[i] && p->key[p->slot[i] - 1] != key)
        i = (i + 1) & mask;
    return &p->slot[i];
}

/* Its place, old or new; UINT32_MAX: no memory. */
static uint32_t places_add(struct places *p, uint64_t key)
{
    if (p->n == p->room) {
        uint32_t *const slot = calloc((p->room ? p->room : FIRST_ROOM / 2) * 4, sizeof *slot);
        if (!slot || !room_for(&p->key, p->n, &p->room, sizeof *p->key)) {
            free(slot);
            return UINT32_MAX;
        }
        free(p->slot);
        p->slot = slot;
        for (uint32_t i = 0; i < p->n; i++)
            *places_slot(p, p->key[i]) = i + 1;
    }
    uint32_t *const slot = places_slot(p, key);
    if (!*slot) {
        p->key[p->n++] = key;
        *slot = p->n;
    }
    return *slot - 1;
}

static uint32_t places_find(const struct places *p, uint64_t key)
{
    return p->n > 0 ? *places_slot(p, key) - 1 : UINT32_MAX; /* 0: UINT32_MAX */
}

/* ---- what is open ---- */

static bool graph_has_room(void)
{
    const bool has_room = graphs.node.n < NODES_MOST && graphs.n_ops < NODES_MOST && graphs.text_bytes < TEXT_MOST;
    if (!has_room && !graphs.is_full)
        message(ASCOPE_WARNING, "captured graphs: there is no room for more; kernels of later ones have no operator");
    graphs.is_full |= !has_room;
    return has_room;
}

/* The place of a text. False: no memory. */
static bool graph_text_add(struct ascope_text text, uint32_t *place)
{
    enum { LONGEST = 12000 }; /* five of them fit into a record */
    const uint32_t n = text.n < LONGEST ? text.n : LONGEST;
    if (!room_for(&graphs.text_at, graphs.text.n, &graphs.text_room, sizeof *graphs.text_at))
        return false;
    const uint32_t before = graphs.text.n;
    *place = places_add(&graphs.text, name_hash_of(text.at ? text.at : "", n));
    if (*place < before || *place == UINT32_MAX)
        return *place < before;
    char *const copy = malloc(n + 1);
    if (copy && n > 0)
        memcpy(copy, text.at, n);
    graphs.text_at[*place] = (struct graph_text){ .at = copy, .n = copy ? n : 0 };
    graphs.text_bytes += n;
    return true;
}

/* The number of an operator; 0: no room. */
static uint32_t graph_op_add(const struct ascope_graph_op *op)
{
    struct graph_op new = { 0 };
    if (!graph_has_room() || !room_for(&graphs.op, graphs.n_ops, &graphs.op_room, sizeof *graphs.op) ||
        !graph_text_add(op->name, &new.text[GRAPH_NODE_NAME]) ||
        !graph_text_add(op->types, &new.text[GRAPH_NODE_TYPES]) ||
        !graph_text_add(op->shapes, &new.text[GRAPH_NODE_SHAPES]) ||
        !graph_text_add(op->stack, &new.text[GRAPH_NODE_STACK]) ||
        !graph_text_add(op->modules, &new.text[GRAPH_NODE_MODULES]))
        return 0;
    graphs.op[graphs.n_ops] = new;
    return ++graphs.n_ops;
}

uint32_t ascope_graph_op_begin(const struct ascope_graph_op *op)
{
    const uint32_t outer = open_op;
    if (op->size < sizeof *op)
        return outer;
    pthread_mutex_lock(&graphs.lock);
    open_op = graph_op_add(op);
    pthread_mutex_unlock(&graphs.lock);
    return outer;
}

void ascope_graph_op_end(uint32_t outer)
{
    open_op = outer;
}

/* ---- nodes ---- */

static void graph_node_put_in(uint64_t id, uint32_t op)
{
    if (op == 0 || !graph_has_room() ||
        !room_for(&graphs.op_of, graphs.node.n, &graphs.op_of_room, sizeof *graphs.op_of))
        return;
    const uint32_t place = places_add(&graphs.node, id);
    if (place != UINT32_MAX)
        graphs.op_of[place] = op;
}

void graph_nodes_add(uint64_t id)
{
    if (open_op == 0)
        return;
    pthread_mutex_lock(&graphs.lock);
    graph_node_put_in(id, open_op);
    pthread_mutex_unlock(&graphs.lock);
}

void graph_nodes_copy(uint64_t id, uint64_t of_id)
{
    pthread_mutex_lock(&graphs.lock);
    const uint32_t place = places_find(&graphs.node, of_id);
    graph_node_put_in(id, place != UINT32_MAX ? graphs.op_of[place] : 0);
    pthread_mutex_unlock(&graphs.lock);
}

/* ---- in a session ---- */

void graph_nodes_begin(void)
{
    pthread_mutex_lock(&graphs.lock);
    graphs.session++;
    graphs.n_written = 0;
    pthread_mutex_unlock(&graphs.lock);
}

/* What is put of a node: an operator and a stack have their texts once in a session. Texts stay where they are. */
struct node_texts {
    struct ascope_text text[GRAPH_NODE_TEXTS];
    struct graph_node_bytes fixed;
};

static bool node_next(struct node_texts *out)
{
    if (graphs.n_written >= graphs.node.n)
        return false;
    const uint32_t place = graphs.n_written++, number = graphs.op_of[place];
    struct graph_op *const op = &graphs.op[number - 1];
    struct graph_text *const stack = &graphs.text_at[op->text[GRAPH_NODE_STACK]];
    *out = (struct node_texts){
        .fixed = { .node = graphs.node.key[place], .op = number, .stack = op->text[GRAPH_NODE_STACK] }
    };
    for (unsigned i = GRAPH_NODE_NAME; i < GRAPH_NODE_TEXTS && op->written_in != graphs.session; i++) {
        const struct graph_text *const t = &graphs.text_at[op->text[i]];
        if (i != GRAPH_NODE_STACK || stack->written_in != graphs.session)
            out->text[i] = (struct ascope_text){ t->at, t->n };
    }
    op->written_in = stack->written_in = graphs.session;
    return true;
}

static void node_put(const struct node_texts *n)
{
    size_t bytes = sizeof n->fixed;
    for (unsigned i = GRAPH_NODE_NAME; i < GRAPH_NODE_TEXTS; i++)
        bytes += record_text_bytes(n->text[i]);
    const struct ring_slot slot = ring_put(STREAM_GRAPH_NODE, 0, bytes);
    if (!slot.at)
        return;
    struct graph_node_bytes *const fixed = (struct graph_node_bytes *)slot.at;
    *fixed = n->fixed;
    fixed->tlv = (struct tlv_bytes){ TLV_GRAPH_NODE, (uint32_t)(bytes - sizeof(struct tlv_bytes)) };
    uint8_t *at = slot.at + sizeof n->fixed;
    for (uint16_t i = GRAPH_NODE_NAME; i < GRAPH_NODE_TEXTS; i++)
        at = record_text_put(at, i, n->text[i]);
    ring_done(slot);
}

void graph_nodes_write(void)
{
    struct node_texts next;
    for (;;) {
        pthread_mutex_lock(&graphs.lock);
        const bool is_there = node_next(&next);
        pthread_mutex_unlock(&graphs.lock);
        if (!is_there)
            return;
        while (ring_is_short()) /* the writer has to make room: nobody waits for this thread */
            nanosleep(&(struct timespec){ .tv_nsec = SHORT_WAIT_NS }, NULL);
        node_put(&next);
    }
}

/* ---- the device ---- */

bool ascope_graph_watch_begin(void)
{
    return device_watch_graphs(true);
}

void ascope_graph_watch_end(void)
{
    device_watch_graphs(false);
}
