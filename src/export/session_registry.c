#include "export/pytorch_db.h"
#include "export/session.h"
#include "export/session_memory.h"

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
    { .file = "memory_record.csv", .about = "memory of the devices over time, by component",
      .build = session_memory_record },
    { .file = "operator_memory.csv", .about = "what each operator allocated, and for how long it was held",
      .build = session_operator_memory },
    { .file = "npu_module_mem.csv", .about = "memory that the components of the system software held over time",
      .build = session_module_memory },
    { .file = "op_statistic.csv", .about = "operators by type and core: how often they ran, and for how long",
      .report = "op_statistic" },
};
/* clang-format on */
const size_t n_session_outputs = sizeof session_outputs / sizeof *session_outputs;
