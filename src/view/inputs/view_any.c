/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_any.h"

#include <sys/stat.h>

#include "base/files/inside.h"
#include "base/text/framework_names.h"
#include "load/trace/db_reader.h"
#include "view/inputs/view_inputs.h"
#include "view/rows/view_input.h"

struct view_input view_any_file(const char *path, const char *steps_by)
{
    struct stat st;
    const bool is_folder = inside_stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    const bool is_database = db_is_database(path);
    return (struct view_input){ .path = path,
                                .kind = is_folder     ? "tables"
                                        : is_database ? "database"
                                                      : "Chrome trace",
                                .load = is_folder     ? view_tables_load
                                        : is_database ? view_database_load
                                                      : view_chrome_load,
                                .context = is_folder ? NULL : steps_by };
}

struct view_input view_any_collection(const struct view_collection *c)
{
    return (struct view_input){ .path = c->input->path,
                                .kind = c->input->kind ? framework_names[c->input->kind->id].name : "PROF directory",
                                .load = view_collection_load,
                                .context = c };
}
