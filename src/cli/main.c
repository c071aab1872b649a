#include <stdio.h>
#include <string.h>

#include "export/write.h"
#include "load/prof.h"

int main(int argc, char **argv)
{
    struct request r = { .want = WANT_ALL,
                         .n_threads = 2,
                         .dialect = DIALECT_CURRENT,
                         .out_dir = argc > 2 ? argv[2] : NULL,
                         .iteration_count = 1 };
    if (argc > 4) {
        r.has_iteration = true;
        sscanf(argv[3], "%lu", &r.model);
        sscanf(argv[4], "%lu", &r.iteration);
    }
    struct error e = { 0 };
    struct prof_dirs dirs;
    if (argc < 2 || !prof_find(argv[1], &dirs, &e)) {
        fprintf(stderr, "ascope: %s\n", e.text);
        return 1;
    }
    for (size_t i = 0; i < dirs.n; i++) {
        struct result out;
        struct error why = { 0 };
        if (!collection_export(dirs.path[i], &r, &out, &why))
            fprintf(stderr, "ascope: %s\n", why.text);
        for (size_t k = 0; k < out.files.n; k++)
            printf("%10lu rows %10lu bytes %s\n", out.files.at[k].n_rows, out.files.at[k].n_bytes,
                   out.files.at[k].path);
        for (size_t k = 0; k < out.problems.n; k++)
            printf("problem: %s\n", out.problems.at[k]);
        for (int k = 0; k < LOSS_KINDS; k++)
            if (out.profile.lost.by[k].n)
                printf("%lu %s, first %s:%lu\n", out.profile.lost.by[k].n, loss_text((enum loss)k),
                       out.profile.lost.by[k].file, out.profile.lost.by[k].first_at);
        printf("load %.3f analyse %.3f write %.3f\n", out.load_s, out.analyse_s, out.write_s);
        result_free(&out);
    }
    prof_dirs_free(&dirs);
    return 0;
}
