// SPDX-License-Identifier: Apache-2.0
// Translates the English sentences of the server into the language of the page: each form of a sentence has a translation with its names
// and numbers. Sentences of an unknown form stay English.
// @ts-check
import { is_english } from "./text.js";

/** Of `ascope why`. @type {Record<string, string>} */
const CAUSES = {
    "more runs": "运行次数更多", "longer runs": "运行时间更长", "lower clock": "频率更低", "slower transfer": "传输更慢", "waiting for ranks": "等待其他 rank",
    "waiting for data": "等待数据", memory: "内存", "garbage collection": "垃圾回收", "host late": "主机下发过晚", "outside operators": "算子之外", operators: "算子",
};

/** What could not be used of a recording: the texts of loss_text(). @type {Record<string, string>} */
const LOSSES = {
    "records cut short": "条记录被截断", "slices missing inside a stream": "个数据片在流中缺失", "records with a wrong magic number": "条记录的魔数错误",
    "records with impossible values": "条记录的值不可能", "lines that could not be parsed": "行无法解析", "files that could not be read": "个文件无法读取",
    "streams that this version does not read": "个数据流本版本不支持", "device tasks claimed by several host tasks": "个设备任务对应多个主机任务",
    "records of a newer format, of which only the known part was used": "条记录为更新的格式，只使用了已知部分",
    "records dropped while recording: ring full": "条记录在采集时被丢弃：环形缓冲区已满",
    "records dropped while recording: too many threads": "条记录在采集时被丢弃：线程过多",
    "records dropped while recording: no free descriptor": "条记录在采集时被丢弃：没有空闲的文件描述符",
    "records dropped while recording: no permission": "条记录在采集时被丢弃：没有权限",
    "records dropped while recording: no space on the disk": "条记录在采集时被丢弃：磁盘空间不足",
    "records dropped while recording: name too long": "条记录在采集时被丢弃：名称过长",
    "records dropped while recording: a file could not be written": "条记录在采集时被丢弃：无法写入文件",
    "damaged places in ascope.rings, whose records are missing": "处 ascope.rings 损坏，其中的记录缺失",
    "holes in files, whose bytes were never written": "处文件空洞，其中的字节从未写入",
    "files missing since the recording ended": "个文件在采集结束后丢失",
    "files cut or extended since the recording ended": "个文件在采集结束后被截断或变长",
    "files with other content than when the recording ended": "个文件的内容与采集结束时不同",
    "slices of a device of unknown categories": "个设备切片的类别未知",
    "recordings that never ended, whose last records are missing": "次采集未正常结束，缺少最后的记录",
};

/** What a check of `ascope advise` would need. @type {Record<string, string>} */
const NEEDS = {
    "all ranks of the job, with steps": "作业的所有 rank，且有步骤",
    "the framework's own events: activities with CPU": "框架自身的事件：activities 含 CPU",
    "the device: activities with NPU": "设备：activities 含 NPU",
    "the GPU: activities with CUDA": "GPU：activities 含 CUDA",
    "calls of the software stack: profiler_level Level1 or higher (msprof --ascendcl=on --runtime-api=on)": "软件栈的调用：profiler_level Level1 或更高（msprof --ascendcl=on --runtime-api=on）",
    "calls of CUDA: activities with CUDA": "CUDA 的调用：activities 含 CUDA",
    "garbage collections: gc_detect_threshold of _ExperimentalConfig": "垃圾回收：_ExperimentalConfig 的 gc_detect_threshold",
    "changes of the clock: profiler_level Level1 or higher on Atlas A2/A3": "频率变化：Atlas A2/A3 上 profiler_level Level1 或更高",
    "types of tasks: profiler_level Level1 or higher": "任务类型：profiler_level Level1 或更高",
    "types and blocks of kernels: profiler_level Level1 or higher": "内核的类型与块数：profiler_level Level1 或更高",
    "operators of all ranks of the job: activities with CPU": "作业所有 rank 的算子：activities 含 CPU",
    "garbage collections: record_python_gc_info of _ExperimentalConfig (PyTorch 2.9 or later)": "垃圾回收：_ExperimentalConfig 的 record_python_gc_info（PyTorch 2.9 或更高）",
    "Python functions: with_stack=True": "Python 函数：with_stack=True",
    "the optimizer's range and calls: activities with CPU, profiler_level Level1 or higher": "优化器的范围与调用：activities 含 CPU，profiler_level Level1 或更高",
    "the optimizer's range and calls: activities with CPU and CUDA": "优化器的范围与调用：activities 含 CPU 和 CUDA",
    "kernels with their grids: activities with CUDA": "内核及其 grid：activities 含 CUDA",
    "sizes of collectives: profiler_level Level1 or higher": "集合通信的大小：profiler_level Level1 或更高",
    "sizes of collectives: record_shapes, and PyTorch 2.2 or later": "集合通信的大小：record_shapes，PyTorch 2.2 或更高",
    "collectives with their transfers: profiler_level Level1 or higher (msprof --hccl=on)": "集合通信及其传输：profiler_level Level1 或更高（msprof --hccl=on）",
};

/** What an input has to say about itself. @type {Record<string, string>} */
const FACTS = {
    none: "无", "some records could not be used; ascope analyse lists them": "部分记录无法使用；ascope analyse 会列出",
    "texts repeat too often: the last events are not shown": "文本重复过多：未显示最后的事件", "cannot be read as a table": "无法作为表格读取",
};

const TEXTS = { ...LOSSES, ...NEEDS, ...FACTS };

const PER = "(?: a step| in all)?", WIDE = "(.+)", N = "([\\d.,]+)", T = "([\\d.]+ (?:ns|us|ms|s)|\\d+ min \\d\\d s)"; // T: a duration

/** @type {[RegExp, (m: string[]) => string][]} */
const FORMS = (/** @type {[string, (m: string[]) => string][]} */ ([
    [`([+-]\\S+ \\S+) (${Object.keys(CAUSES).join("|")}): ${WIDE} \\(${WIDE}, usually ${WIDE}\\)`, (m) => `${m[1]} ${CAUSES[m[2]]}：${what(m[3])}（${m[4]}，通常 ${m[5]}）`],
    ["No step is slow: .*", () => "没有异常的步骤：没有一步比中位数多出十分之一且超过通常波动的五倍。"],
    [`Both runs begin step ${WIDE} at the same moment\\.`, (m) => `两次运行的步骤 ${m[1]} 在同一时刻开始。`],
    ["They (?:have no step in common|do not both have step .*): both runs are shown from their first event on\\.", () => "没有共同的步骤：两次运行均从其第一个事件开始显示。"],
    [`Rank ${N} is not in the timeline: ${WIDE}`, (m) => `时间线中没有 rank ${m[1]}：${m[2]}`],
    [`([AB]) is not shown: ${WIDE}`, (m) => `未显示 ${m[1]}：${m[2]}`],
    [`The runs cannot be compared: ${WIDE}`, (m) => `两次运行无法比较：${m[1]}`],
    [`(?:${WIDE}: )?${N} (?:step|iteration)s?(?: of (.+?))?, median ${T}(, on the host)?`, (m) => `${m[1] ? m[1] + "：" : ""}${m[2]} 个步骤${m[3] ? `（${m[3]}）` : ""}，中位数 ${m[4]}${m[5] ? "（主机）" : ""}`],
    ["not read: larger than (\\d+) MiB", (m) => `未读取：大于 ${m[1]} MiB`],
    ["No steps were recorded", () => "没有采集到步骤"],
    [`No steps were recorded: of ${WIDE} computing ${WIDE}, communication ${WIDE}, free ${WIDE}`, (m) => `没有采集到步骤：${m[1]} 中计算 ${m[2]}，通信 ${m[3]}，空闲 ${m[4]}`],
    [`without communication a step takes ${T} on this rank and ${T} on the median rank; the others wait for it(?: and for \\d+ more)?`, (m) => `不计通信，一步在该 rank 上为 ${m[1]}，在居中的 rank 上为 ${m[2]}；其他 rank 为它等待`],
    [`the device waits ${T}${PER} for data`, (m) => `设备${per(m)}等待数据 ${m[1]}`],
    [`the host waits ${T}${PER} for data`, (m) => `主机${per(m)}等待数据 ${m[1]}`],
    [`the device waits ${T}${PER} while the host allocates or frees device memory, in ${N} calls${PER}`, (m) => `主机分配或释放设备内存时，设备${per(m)}等待 ${m[1]}（${m[2]} 次调用）`],
    [`memory is copied for ${T}${PER} while the device does nothing else`, (m) => `${per(m)}有 ${m[1]} 只做内存拷贝`],
    [`the device has nothing to do for ${T}${PER}, because the host launches too late`, (m) => `主机下发过晚，设备${per(m)}空闲 ${m[1]}`],
    [`${N} of ${N} launches \\(${N} %\\) (?:is|are) immediately followed by a wait for the device`, (m) => `${m[2]} 次下发中有 ${m[1]} 次（${m[3]} %）之后立即等待设备`],
    [`${N} Python garbage collections?, the longest ${T}`, (m) => `Python 垃圾回收 ${m[1]} 次，最长 ${m[2]}`],
    [`operators of ${N} % of the computing time ran at ${N} MHz on average; the nominal clock is ${N} MHz`, (m) => `占计算时间 ${m[1]} % 的算子平均运行在 ${m[2]} MHz；额定频率为 ${m[3]} MHz`],
    [`${N} operators?${PER} runs? on the AI CPU, the longest ${T}`, (m) => `${per(m)}有 ${m[1]} 个算子在 AI CPU 上运行，最长 ${m[2]}`],
    [`judging by their block counts, kernels use ${N} % of the cores \\(${N} AI cores, ${N} vector cores\\)`, (m) => `按块数，内核使用了 ${m[1]} % 的核（${m[2]} 个 AI 核，${m[3]} 个向量核）`],
    [`link ${N} -> ${N} of group ${WIDE} has ${N} % of the bandwidth of the median link of its kind`, (m) => `组 ${m[3]} 的链路 ${m[1]} → ${m[2]} 只有同类链路中位带宽的 ${m[4]} %`],
    [`link ${N} -> ${N} of group ${WIDE}: ${N} GB/s, the median link of its kind ${N} GB/s`, (m) => `组 ${m[3]} 的链路 ${m[1]} → ${m[2]}：${m[4]} GB/s，同类链路中位数 ${m[5]} GB/s`],
    [`${N} transfers?${PER} (?:is|are) small, and slower than large ones over the same kind of link`, (m) => `${per(m)}有 ${m[1]} 次小传输，比同类链路上的大传输慢`],
    [`${N} of ${N} SDMA transfers (?:has|have) a size that is not a multiple of 512 bytes, and (?:is|are) slower than others of (?:its|their) size`, (m) => `${m[2]} 次 SDMA 传输中有 ${m[1]} 次的大小不是 512 字节的倍数，比同样大小的其他传输慢`],
    [`${N} RDMA transfers? took more than 4 s, the time after which a lost packet is retransmitted`, (m) => `${m[1]} 次 RDMA 传输超过 4 s，即丢包重传的时间`],
    [`${WIDE}: ${T}${PER}, ${N} runs, the longest ${T}(?:; its blocks leave cores idle)?`, (m) => `${m[1]}：${per(m)} ${m[2]}，${m[3]} 次，最长 ${m[4]}`],
    [`${WIDE}: ${T}${PER} at ${N} MHz, ${N} % below ${N} MHz`, (m) => `${m[1]}：${per(m)} ${m[2]}，${m[3]} MHz，比 ${m[5]} MHz 低 ${m[4]} %`],
    [`${WIDE}: ${N} % of the transfers are below ${N} MB and reach ${N} GB/s; larger ones reach ${N} GB/s`, (m) => `${m[1]}：${m[2]} % 的传输小于 ${m[3]} MB，达到 ${m[4]} GB/s；更大的达到 ${m[5]} GB/s`],
    [`of ${N} to ${N} KiB: ${N} transfers whose size is not a multiple of 512 bytes reach ${N} GB/s, ${N} others ${N} GB/s`, (m) => `${m[1]} 至 ${m[2]} KiB：${m[3]} 次大小不是 512 字节倍数的传输达到 ${m[4]} GB/s，其他 ${m[5]} 次 ${m[6]} GB/s`],
    [`rank ${N} -> ${N}: ${N} s for ${N} MB`, (m) => `rank ${m[1]} → ${m[2]}：${m[4]} MB 用时 ${m[3]} s`],
    [`${WIDE}: ${T} is the longest wait after a launch`, (m) => `${m[1]}：下发后最长等待 ${m[2]}`],
    [`${WIDE}: ${T}${PER}, ${N} times?`, (m) => `${m[1]}：${per(m)} ${m[2]}，${m[3]} 次`],
    [`${WIDE}: ${T}${PER}`, (m) => `${m[1]}：${per(m)} ${m[2]}`],
])).map(([form, says]) => [new RegExp("^" + form + "$", "s"), says]);

/** @param {string[]} m */
const per = (m) => (/ in all\b/.test(m[0]) ? "共" : "每步");

/** @param {string} text */
const what = (text) => (text === "nothing was recorded of the host" ? "主机上没有记录" : text);

/** @param {string} text */
const with_micro = (text) => text.replace(/(\d) us\b/g, "$1 µs");

/** @param {string} text */
export function said(text) {
    if (!is_english()) {
        if (Object.hasOwn(TEXTS, text)) return TEXTS[/** @type {keyof typeof TEXTS} */ (text)];
        for (const [form, says] of FORMS) {
            const m = form.exec(text);
            if (m) return with_micro(says(m));
        }
    }
    return with_micro(text);
}
