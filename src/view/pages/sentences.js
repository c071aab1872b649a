// SPDX-License-Identifier: Apache-2.0
// Translates the English sentences of the server into the language of the page: each form of a sentence has a translation with its names
// and numbers. Sentences of an unknown form stay English.
// @ts-check
import { is_english } from "./text.js";

/** Of `ascope why`. @type {Record<string, string>} */
const CAUSES = {
    "more runs": "运行次数更多", "longer runs": "运行时间更长", "lower clock": "频率更低", "slower transfer": "传输更慢", "waiting or transfer": "等待其他 rank 或传输", "waiting for ranks": "等待其他 rank",
    "waiting for data": "等待数据", "waiting for requests": "等待请求", memory: "内存", "garbage collection": "垃圾回收", "host late": "主机下发过晚", "outside operators": "算子之外",
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
    "requests with their tokens: ascope.request()": "带 token 的请求：ascope.request()",
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

/** What of a step, in sentences of the judge. @type {Record<string, string>} */
const PARTS = {
    computing: "计算", "communication that nothing overlaps": "未重叠的通信", "time in which the device has nothing to do": "设备空闲",
    "in operators": "算子", communication: "通信", "outside operators": "算子之外",
};
const MOST = `(?:, because of (.+?))?(?:, most of it (${Object.keys(PARTS).join("|")}))?`;

/** Of iterations of an inference engine. @type {Record<string, string>} */
const CLASSES = { prefill: "预填充", decode: "解码", mixed: "混合", idle: "空闲", other: "其他" };

/** @type {Record<string, string>} */
/** @type {Record<string, string>} */
const BETWEEN = { scheduling: "调度", "handling results": "处理结果", "other work of the host": "主机的其他工作" };
const COPIES = { "copies from pageable (not pinned) memory": "可分页（非锁页）内存拷贝", "copies to the host": "到主机的拷贝", copies: "拷贝" };

const PER = "(?: a step| in all| in step \\S+| in each of these steps)?", WIDE = "(.+)", N = "([\\d.,]+)", T = "([\\d.]+ (?:ns|us|ms|s)|\\d+ min \\d\\d s)"; // T: a duration

/** @type {[RegExp, (m: string[]) => string][]} */
const FORMS = (/** @type {[string, (m: string[]) => string][]} */ ([
    [`([+-]\\S+ \\S+) (${Object.keys(CAUSES).join("|")}): ${WIDE} \\(${WIDE}, usually ${WIDE}\\)`, (m) => `${m[1]} ${CAUSES[m[2]]}：${what(m[3])}（${m[4]}，通常 ${m[5]}）`],
    [`(step|iteration) (.+?) is slow, once: ${T} longer than the usual ${T} \\(${N} % of the run\\)${MOST}`, (m) => `${unit(m)} ${sized(m[2])} 慢了一次：比通常的 ${m[4]} 多 ${m[3]}（占运行的 ${m[5]} %）${most(m[6], m[7])}`],
    [`(step|iteration)s? (.+?)(?: to (.+?))? (?:is|are) slow: each (?:step|iteration) ${T} longer than the usual ${T}, ${T} in all \\(${N} % of the run\\)${MOST}`, (m) => `${unit(m)} ${range(m[2], m[3])} 慢：每个比通常的 ${m[5]} 多 ${m[4]}，共 ${m[6]}（占运行的 ${m[7]} %）${most(m[8], m[9])}`],
    [`since (step|iteration) (.+?) each (?:step|iteration) takes ${T} longer than the usual ${T}, ${T} in all \\(${N} % of the run\\)${MOST}`, (m) => `从${unit(m)} ${sized(m[2])} 起，每个比通常的 ${m[4]} 多 ${m[3]}，共 ${m[5]}（占运行的 ${m[6]} %）${most(m[7], m[8])}`],
    [`every (\\d+)(?:st|nd|rd|th) (?:step|iteration) from (.+?) on takes ${T} longer than the usual ${T}, ${T} in all \\(${N} % of the run\\)${MOST}`, (m) => `从 ${sized(m[2])} 起，每 ${m[1]} 个步骤中有一个比通常的 ${m[4]} 多 ${m[3]}，共 ${m[5]}（占运行的 ${m[6]} %）${most(m[7], m[8])}`],
    [`each (step|iteration) takes a little longer than the one before, from (.+?) to (.+?): ${T} more in the mean, ${T} in all \\(${N} % of the run\\)${MOST}`, (m) => `从${unit(m)} ${m[2]} 到 ${sized(m[3])}，每个都比前一个略长：平均多 ${m[4]}，共 ${m[5]}（占运行的 ${m[6]} %）${most(m[7], m[8])}`],
    [`((?:waits for .+?|${Object.keys(CAUSES).join("|")}) \\+${T} \\(${N} %\\).*|its thread waits for a processor for ${N} % of it)`, (m) => because(m[1])],
    [`((?:the stage of )?(?:rank|device) \\d+|\\S+) is slow in each (step|iteration): ${T} without communication, (.+?) ?${T}; the others wait ${T} a (?:step|iteration) for it \\(${N} % of the run\\)${MOST}`, (m) => `${ranked(m[1])} 每步都慢：不计通信 ${m[3]}，${ranked(m[4])} 为 ${m[5]}；其他 rank 每步为它等待 ${m[6]}（占运行的 ${m[7]} %）${most(m[8], m[9])}`],
    [`once, in step (.+?)`, (m) => `一次，在步骤 ${m[1]}`],
    [`in steps (.+?) to (.+?)`, (m) => `在步骤 ${m[1]} 至 ${m[2]}`],
    [`in steps (.+?) and (.+?)`, (m) => `在步骤 ${m[1]} 和 ${m[2]}`],
    [`in ${N} steps from (.+?) to (.+?)`, (m) => `在 ${m[2]} 至 ${m[3]} 的 ${m[1]} 个步骤`],
    [`uneven work: in each (?:step|iteration) another rank takes longest, ${T} longer than the mean of the ranks, for which the others wait \\(${N} % of the run\\)`, (m) => `负载不均：每步都有另一个 rank 最慢，比各 rank 的平均多 ${m[1]}，其他 rank 为它等待（占运行的 ${m[2]} %）`],
    [`and ${N} more; ascope why explains them`, (m) => `另有 ${m[1]} 项，见 ascope why`],
    [`start-up: (step|iteration)s? (.+?)(?: to (.+?))? at the begin of the recording takes? ${T} longer in all; left out`, (m) => `启动：采集开始时的${unit(m)} ${range(m[2], m[3])} 共多 ${m[4]}，不计入`],
    [`no (step|iteration) is slow(, and no rank)?: what differs is within the noise of the run \\(${N} % of a (?:step|iteration)(?:; one that takes ${T} longer would be slow)?\\)`, (m) => `没有慢的${unit(m)}${m[2] ? "，也没有慢的 rank" : ""}：差异在运行的噪声之内（一个${unit(m)}的 ${m[3]} %${m[4] ? `；再长 ${m[4]} 才算慢` : ""}）`],
    [`of fewer than (\\d+) (step|iteration)s none can be called slow(?:, and no rank is)?`, (m) => `少于 ${m[1]} 个${m[2] === "step" ? "步骤" : "迭代"}时，无法判断是否慢`],
    [`Both runs begin step ${WIDE} at the same moment\\.`, (m) => `两次运行的步骤 ${m[1]} 在同一时刻开始。`],
    ["with as many kernels", () => "内核数相同"],
    [`with ${N} % more kernels`, (m) => `内核多 ${m[1]} %`],
    ["copies beside which nothing runs", () => "其间没有其他工作的拷贝"],
    ["its host is late", () => "主机下发过晚"],
    [`it is compared with the ${N} ranks of its stage`, (m) => `与同一流水级的 ${m[1]} 个 rank 比较`],
    [`in collectives the others wait ${T}`, (m) => `其他 rank 在集合通信中等待 ${m[1]}`],
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
    [`the thread of the steps waits ${T}${PER} for a processor that other work has`, (m) => `执行步骤的线程${per(m)}等待处理器 ${m[1]}，处理器被其他工作占用`],
    [`the device waits ${T}${PER} while the host allocates or frees device memory, in ${N} calls${PER}`, (m) => `主机分配或释放设备内存时，设备${per(m)}等待 ${m[1]}（${m[2]} 次调用）`],
    [`the device has nothing to do for ${T}${PER}, because the host launches too late`, (m) => `主机下发过晚，设备${per(m)}空闲 ${m[1]}`],
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
    [`${WIDE}: ${T}${PER}, ${N} runs`, (m) => `${m[1]}：${per(m)} ${m[2]}，${m[3]} 次`],
    [`${WIDE}: ${T}${PER} at ${N} MHz, ${N} % below ${N} MHz`, (m) => `${m[1]}：${per(m)} ${m[2]}，${m[3]} MHz，比 ${m[5]} MHz 低 ${m[4]} %`],
    [`${WIDE}: ${N} % of the transfers are below ${N} MB and reach ${N} GB/s; larger ones reach ${N} GB/s`, (m) => `${m[1]}：${m[2]} % 的传输小于 ${m[3]} MB，达到 ${m[4]} GB/s；更大的达到 ${m[5]} GB/s`],
    [`of ${N} to ${N} KiB: ${N} transfers whose size is not a multiple of 512 bytes reach ${N} GB/s, ${N} others ${N} GB/s`, (m) => `${m[1]} 至 ${m[2]} KiB：${m[3]} 次大小不是 512 字节倍数的传输达到 ${m[4]} GB/s，其他 ${m[5]} 次 ${m[6]} GB/s`],
    [`rank ${N} -> ${N}: ${N} s for ${N} MB`, (m) => `rank ${m[1]} → ${m[2]}：${m[4]} MB 用时 ${m[3]} s`],
    [`${N} of ${N} launches \\(${N} %\\) are immediately followed by a synchronisation: launch blocking`, (m) => `${m[2]} 次下发中有 ${m[1]} 次（${m[3]} %）之后立即同步：阻塞式下发`],
    [`${N} collectives${PER} are smaller than 1 MiB; their median takes ${T}, while larger ones move ${N} GB/s`, (m) => `${per(m)}有 ${m[1]} 次集合通信小于 1 MiB；其中位时长 ${m[2]}，更大的达到 ${m[3]} GB/s`],
    [`${N} collectives of at most 64 KiB${PER} exchange statistics of batch normalisation \\(SyncBatchNorm\\); their median takes ${T}`, (m) => `${per(m)}有 ${m[1]} 次不超过 64 KiB 的集合通信交换批归一化的统计量（SyncBatchNorm）；其中位时长 ${m[2]}`],
    [`${N} all-reduces${PER} are ${N} times the same, after ${N} forward and backward passes: gradients are reduced after each micro batch \\(no_sync is missing\\)`, (m) => `${per(m)}的 ${m[1]} 次 all-reduce 是相同的 ${m[2]} 遍，在 ${m[3]} 次前向和反向之后：每个微批次之后都归约梯度（缺少 no_sync）`],
    [`${N} collectives? takes? at least ten times as long as usual, on all ranks that were read: retransmission, or a network that does not answer`, (m) => `${m[1]} 次集合通信在所有已读取的 rank 上都至少是通常的十倍：重传，或网络没有响应`],
    [`collectives run for ${T}${PER} while nothing computes(, on the rank that waits least|; waiting for other ranks may be part of it)?`, (m) => `${per(m)}有 ${m[1]} 在集合通信，同时没有计算${!m[2] ? "" : m[2].startsWith(",") ? "（等待最少的 rank 上）" : "；其中可能包括等待其他 rank"}`],
    [`${N} of ${N} operators of the host take at least ${N} times as long as on the other ranks, ${N} times at the median: its whole host is slow`, (m) => `主机的 ${m[2]} 个算子中有 ${m[1]} 个至少是其他 rank 的 ${m[3]} 倍，中位数 ${m[4]} 倍：整个主机都慢`],
    [`${N} (copies from pageable \\(not pinned\\) memory|copies to the host|copies)${PER} \\(${N} MB\\) run for ${T} while the device does nothing else(?:, and it waits ${T} while the host is in their calls)?`, (m) => `${per(m)}有 ${m[1]} 次${COPIES[m[2]]}（${m[3]} MB），其中 ${m[4]} 设备不做别的${m[5] ? `，主机在其调用中时设备还等待 ${m[5]}` : ""}`],
    [`${N} % of the computing time is in kernels of matrix products in float32 \\(or float64\\) that do not use tensor cores; with them up to ${N} times as fast`, (m) => `计算时间的 ${m[1]} % 是不使用 Tensor Core 的 float32（或 float64）矩阵乘内核；使用后最多快 ${m[2]} 倍`],
    [`${N} % of the computing time only converts formats: types or layouts of tensors`, (m) => `计算时间的 ${m[1]} % 只用于转换格式：张量的类型或布局`],
    [`the optimizer launches ${N} kernels of at most 10 us${PER}, from the first to the last of them it takes ${T}: it is not fused`, (m) => `优化器${per(m)}下发 ${m[1]} 个不超过 10 us 的内核，从第一个到最后一个为 ${m[2]}：没有融合`],
    [`beyond the shortest kernel's ${N} us each, they work for ${T}${PER}`, (m) => `除去每个内核最短的 ${m[1]} us，它们${per(m)}工作 ${m[2]}`],
    [`kernels have numbers of blocks that fit the ${N} SMs badly, such as ${N} blocks, ${N} at once on an SM: ${N} % of its time is idle`, (m) => `内核的块数与 ${m[1]} 个 SM 不匹配，例如 ${m[2]} 个块，每个 SM 同时 ${m[3]} 个：其时间的 ${m[4]} % 空闲`],
    [`all kernels take ${N} times as long in steps (.+?) to (.+?), by the same factor and with as many blocks: the clock is lower \\(throttling\\)`, (m) => `步骤 ${m[2]} 至 ${m[3]} 中，所有内核的时长都是 ${m[1]} 倍，倍数相同且块数不变：频率降低（降频）`],
    [`in step (.+?) the factor is ${N}, in step (.+?) ${N}`, (m) => `步骤 ${m[1]} 的倍数为 ${m[2]}，步骤 ${m[3]} 为 ${m[4]}`],
    [`the host waits for the device ${N} times${PER} in the middle of its work \\(synchronisation\\), and cannot run ahead of it`, (m) => `主机在工作途中${per(m)}等待设备 ${m[1]} 次（同步），无法提前下发`],
    [`of ${N} kernels${PER}, ${N} % begin within 10 us of their launch while the device has nothing else to do: it waits for launches \\(launch bound\\)`, (m) => `${per(m)}的 ${m[1]} 个内核中有 ${m[2]} % 在下发后 10 us 之内开始，此前设备无事可做：它在等待下发`],
    [`the device is free between kernels for ${T}${PER}`, (m) => `内核之间设备${per(m)}空闲 ${m[1]}`],
    [`${N} kernels${PER} are shorter than the call that launches them: ${T}`, (m) => `${per(m)}有 ${m[1]} 个内核比下发它的调用还短：${m[2]}`],
    [`${N} launch calls? (?:is|are) far longer than usual, the longest ${T}; the median call takes ${T}`, (m) => `${m[1]} 次下发调用远长于通常，最长 ${m[2]}；调用的中位时长 ${m[3]}`],
    [`the device waits ${T}${PER} for Python code of its own; most of it in ${WIDE}`, (m) => `设备${per(m)}等待 Python 代码自身 ${m[1]}，主要在 ${m[2]}`],
    [`in ${N} pauses?${PER} the device waits for a host of which nothing was recorded, as long in each step: probably Python code`, (m) => `设备${per(m)}有 ${m[1]} 次停顿等待主机，期间主机上没有记录，每步时长相同：可能是 Python 代码`],
    [`the longest pause takes ${T}`, (m) => `最长的停顿为 ${m[1]}`],
    [`the host stands still ${N} times${PER}, mostly for 5 ms or a multiple: the time for which Python's threads keep the lock \\(GIL\\)`, (m) => `主机${per(m)}停顿 ${m[1]} 次，大多为 5 ms 或其倍数：Python 线程占用锁（GIL）的时间`],
    [`the host stands still ${N} times${PER}, each time for another duration, in ${N} different places: other work has its processors \\(or its data is not in memory\\)`, (m) => `主机${per(m)}停顿 ${m[1]} 次，时长各不相同，分布在 ${m[2]} 处：其他工作占用了处理器（或数据不在内存中）`],
    [`the host compiles or loads code for the device ${N} times? after the start, and the device waits`, (m) => `启动之后主机为设备编译或加载代码 ${m[1]} 次，设备在等待`],
    [`step (.+?) copies ${N} MB to the host in ${N} copies and takes ${T}`, (m) => `步骤 ${m[1]} 以 ${m[3]} 次拷贝向主机拷贝 ${m[2]} MB，用时 ${m[4]}`],
    [`${N} of ${N} steps(?:, every (\\d+) steps)? copy tensors to the host that others do not copy, as a checkpoint does, and take longer than a usual step of ${T}`, (m) => `${m[2]} 个步骤中有 ${m[1]} 个${m[3] ? `（每 ${m[3]} 步）` : ""}向主机拷贝其他步骤不拷贝的张量，如同保存检查点，并且比通常的 ${m[4]} 更长`],
    [`${WIDE} of ${N} bytes takes ${T}, the longest of them`, (m) => `${m[1]}（${m[2]} 字节）用时 ${m[3]}，为其中最长`],
    [`${WIDE} of ${N} bytes: ${T}, the longest`, (m) => `${m[1]}（${m[2]} 字节）：${m[3]}，为最长`],
    [`${WIDE} takes ${T}, the longest of them`, (m) => `${m[1]} 用时 ${m[2]}，为其中最长`],
    [`${WIDE} takes ${T}; the median of its kind and size ${T}`, (m) => `${m[1]} 用时 ${m[2]}；同类同大小的中位数为 ${m[3]}`],
    [`${WIDE} takes ${T}`, (m) => `${m[1]} 用时 ${m[2]}`],
    [`${WIDE}: ${T} on that rank`, (m) => `${m[1]}：在该 rank 上 ${m[2]}`],
    [`${WIDE}: ${T}${PER}, its last wave of blocks leaves SMs idle`, (m) => `${m[1]}：${per(m)} ${m[2]}，最后一批块使部分 SM 空闲`],
    [`(.+?)(, which is tensor.item\\(\\) in Python)?: ${N} times${PER}, the device is free for ${T} because of it`, (m) => `${m[1]}${m[2] ? "（Python 中的 tensor.item()）" : ""}：${per(m)} ${m[3]} 次，设备因此空闲 ${m[4]}`],
    [`between two iterations up to ${T} go to ${WIDE}`, (m) => `两次迭代之间${BETWEEN[m[2]] ?? m[2]}最长 ${m[1]}`],
    [`sampling takes at least 15 % of some decodes, up to ${T}`, (m) => `部分解码中采样至少占 15 %，最长 ${m[1]}`],
    [`${N} decodes? waits? behind a prompt of up to ${N} tokens: ${T} between two tokens, usually ${T}`, (m) => `${m[1]} 次解码在最长 ${m[2]} 个 token 的提示之后等待：两个 token 之间 ${m[3]}，通常 ${m[4]}`],
    [`${N} prompts? (?:is|are) computed again for requests that had tokens already: they were preempted`, (m) => `${m[1]} 次为已有 token 的请求重新计算提示：它们被抢占`],
    [`the device waits for the host's operators and calls in ${N} % of the time of ${N} decodes, which launch no graph`, (m) => `在不下发图的 ${m[2]} 次解码中，${m[1]} % 的时间设备在等待主机的算子和调用`],
    [`the host is outside of operators in ${N} % of the time of decodes`, (m) => `解码中 ${m[1]} % 的时间主机在算子之外`],
    [`${N} decodes? of more than ${N} requests launch(?:es)? kernels one by one; up to that size a graph is launched`, (m) => `${m[1]} 次超过 ${m[2]} 个请求的解码逐个下发内核；不超过该大小时下发图`],
    [`nothing was recorded for ${T}`, (m) => `${m[1]} 没有记录`],
    [`${WIDE} for ${T}`, (m) => `${m[1]}：${m[2]}`],
    [`${WIDE}: ${T} is the longest wait after a launch`, (m) => `${m[1]}：下发后最长等待 ${m[2]}`],
    [`${WIDE}: ${T}${PER}, ${N} times?`, (m) => `${what(m[1])}：${per(m)} ${m[2]}，${m[3]} 次`],
    [`${WIDE}: ${T}${PER}`, (m) => `${what(m[1])}：${per(m)} ${m[2]}`],
])).map(([form, says]) => [new RegExp("^" + form + "$", "s"), says]);

const CAUSE = new RegExp(`(^|, )(?:waits for ((?:rank|device) \\d+|\\S+)|(${Object.keys(CAUSES).join("|")})) \\+${T} \\((\\d+) %\\)(: nothing was recorded of the host)?`, "g");

/** The causes of a finding; names of operators stay. @param {string} text */
const because = (text) => text.replace(CAUSE, (_, before, rank, cause, time, percent, nothing) => (before ? "，" : "") + (rank ? "等待 " + rank : CAUSES[cause]) + ` +${time}（${percent} %）` + (nothing ? "：主机上没有记录" : ""))
    .replace(/(?:; )?its thread waits for a processor for (\d+) % of it$/, "；其中 $1 % 是其线程在等待处理器").replace(/^；/, "");

/** Because of which rank, and most of what. @param {string|undefined} because @param {string|undefined} part */
const most = (because, part) => (because ? "，原因在 " + because : "") + (part ? "，主要是" + PARTS[part] : "");

/** @param {string[]} m */
const unit = (m) => (m[1] === "step" ? "步骤" : "迭代");

/** @param {string} first @param {string|undefined} last */
const range = (first, last) => (last ? first + " 至 " + sized(last) : sized(first));

/** A step with the class and size of its iteration: "19 (decode, 3 requests)". @param {string} text */
const sized = (text) => text.replace(/ \((prefill|decode|mixed|idle|other)(?:, ([\d,]+) requests?)?(?:, ([\d,]+) tokens?)?\)$/,
    (_, kind, requests, tokens) => "（" + CLASSES[kind] + (requests ? "，" + requests + " 个请求" : "") + (tokens ? "，" + tokens + " 个 token" : "") + "）");

/** @param {string} name */
const ranked = (name) => name.replace(/^the stage of (.*)$/, "$1 所在的流水级");

/** @param {string[]} m */
const per = (m) => {
    const step = / in step (\S+?)(?=,|:|;| for | because | while | the | are | run|$)/.exec(m[0]);
    return / in all\b/.test(m[0]) ? "共" : / in each of these steps/.test(m[0]) ? "在这些步骤中每步" : step ? `在步骤 ${step[1]} 中` : "每步";
};

/** @param {string} text */
const what = (text) => (text === "nothing was recorded of the host" ? "主机上没有记录" : text);

/** @param {string} text */
const with_micro = (text) => text.replace(/(\d) us\b/g, "$1 µs");

/** @param {string} text @returns {string} */
export function said(text) {
    if (!is_english()) {
        const more = /^(.*); other findings name (.*) of it$/s.exec(text);
        if (more) return said(more[1]) + "；其中 " + with_micro(more[2]) + " 已由其他发现说明";
        if (Object.hasOwn(TEXTS, text)) return TEXTS[/** @type {keyof typeof TEXTS} */ (text)];
        for (const [form, says] of FORMS) {
            const m = form.exec(text);
            if (m) return with_micro(says(m));
        }
    }
    return with_micro(text);
}
