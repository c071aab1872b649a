/* collection_write.h - one *_ascend_pt directory from its records to ASCEND_PROFILER_OUTPUT.
 *
 * Loads, analyses and writes; what came of it is handed back as data. Nothing here prints.
 */
#ifndef ASCOPE_PIPELINE_COLLECTION_WRITE_H
#define ASCOPE_PIPELINE_COLLECTION_WRITE_H

#include "pipeline/account.h"
#include "export/framework/collection_export.h"

enum choice { AS_RECORDED, CHOICE_ON, CHOICE_OFF };

struct collection_wishes {
    bool text, db; /* export types; neither: as recorded */
    enum choice simplifies;
    enum dialect dialect;
    bool has_steps; /* only some are wanted, by their numbers */
    int64_t first_step, last_step;
    bool is_pretty;     /* --pretty: one event a line */
    bool from_start;    /* --time-base start */
    bool csv_is_safe;   /* --csv-safe */
    int code_of_losses; /* the exit code for them, which analyse.done names */
    unsigned n_threads;
    const char *out_dir; /* instead of the collection's own directory; NULL: that one */
    void (*progress)(void *context, const char *what, double from, double until, uint64_t expected); /* NULL: none */
    void *progress_context;
};

/* What an output is asked with; the rest of it is as in a struct of zeros. */
struct collection_export collection_export_of(const struct collection *s, enum dialect dialect, unsigned n_threads,
                                              struct arena *mem);

void collection_losses(const struct collection *s,
                       struct losses *out); /* adds those of the device's and PyTorch's parts */

struct collection_result {
    struct collection collection; /* as analysed; live until collection_result_free() */
    struct account account;
};

/* False: nothing could be written, and e says why. True with problems or losses: see there. */
bool collection_export(const char *path, const struct collection_wishes *w, struct collection_result *out,
                       struct error *e);
void collection_result_free(struct collection_result *r);

#endif
