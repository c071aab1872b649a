/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/command.h"
#include "mcp/mcp_server.h"
#include "report/term.h"

/* The resolved path of a word, in a->mem. NULL: the reason was reported. */
static const char *root_of(struct arguments *a, const char *word)
{
    const char *path = path_expand(a, "PATH", word);
    char *real = path ? realpath(path, NULL) : NULL;
    const char *kept = real ? arena_text(a->mem, real, strlen(real)) : NULL;
    if (path && !kept)
        complain("%s: %s", path, real ? no_memory_text() : "no such file or directory");
    free(real);
    return kept;
}

int run_mcp(struct arguments *a)
{
    static const char *const here = ".";
    struct error e = { 0 };
    const size_t n = a->n_words > 0 ? a->n_words : 1;
    const char *const *word = a->n_words > 0 ? a->word : &here;
    const char **root = arena_take(a->mem, n, sizeof *root);
    for (size_t i = 0; root && i < n; i++)
        if (!(root[i] = root_of(a, word[i])))
            return exit_code(a->face, STATUS_PATH);
    if (!root) {
        complain_no_memory("the paths");
        return exit_code(a->face, STATUS_NOTHING);
    }
    const struct mcp_server_options o = {
        .program = "/proc/self/exe", .roots = { root, n }, .in = STDIN_FILENO, .out = STDOUT_FILENO
    };
    sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    if (mcp_serve(&o, &e))
        return exit_code(a->face, STATUS_DONE);
    complain("%s", e.text);
    return exit_code(a->face, STATUS_NOTHING);
}
