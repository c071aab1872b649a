#include "export/pytorch_db.h"
#include "export/session.h"

static bool has_analysis(const struct session *s)
{
    return s->has_device && s->settings.level != SESSION_LEVEL_NONE;
}

/* Every file of ASCEND_PROFILER_OUTPUT. The large ones come first, so that no thread ends up alone with one of them. */
/* clang-format off */
const struct session_output session_outputs[] = {
    { .file = "ascend_pytorch_profiler%s.db", .about = "everything as tables, for SQL and MindStudio Insight",
      .is_db = true, .write = pytorch_db_write },
    { .file = "analysis.db", .about = "steps and communication as tables", .is_db = true,
      .is_wanted = has_analysis, .write = analysis_db_write },
    { .file = "op_statistic.csv", .about = "operators by type and core: how often they ran, and for how long",
      .report = "op_statistic" },
};
/* clang-format on */
const size_t n_session_outputs = sizeof session_outputs / sizeof *session_outputs;
