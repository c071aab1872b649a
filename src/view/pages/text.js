// SPDX-License-Identifier: Apache-2.0
// Words in two languages, and numbers as people read them.
// @ts-check

/** @type {Record<string, [string, string]>} */
const words = {
    overview: ["Overview", "概览"],
    timeline: ["Timeline", "时间线"],
    tables: ["Tables", "表格"],
    memory: ["Memory", "内存"],
    flame: ["Flame graph", "火焰图"],
    roofline: ["Roofline", "屋顶线"],
    intensity: ["Operations for each byte", "每字节的运算数"],
    intensity_short: ["Operations/byte", "运算/字节"],
    operations_per_s: ["Operations", "运算"],
    bytes_per_s: ["Memory", "内存"],
    of_roof: ["Of the roof", "占屋顶"],
    run_of: ["Run", "运行"],
    work: ["{n} in {total}, {rate}, {intensity} operations for each byte, {share} of the roof", "{n} 次共 {total},{rate},每字节 {intensity} 次运算,占屋顶 {share}"],
    roof: ["{what}: {per_s} ({source})", "{what}:{per_s}({source})"],
    roof_memory: ["Memory", "内存"],
    roof_device: ["cores and clock of the device", "按设备的核数与频率"],
    roof_published: ["published for this chip", "该芯片的公开数据"],
    roof_observed: ["no figure is known: the most that a kernel here has reached", "无已知数据:此处内核达到的最大值"],
    no_roof: ["How fast the device multiplies {kind} is not known.", "设备的 {kind} 矩阵运算峰值未知。"],
    no_roof_memory: ["The bandwidth of its memory is not known.", "内存带宽未知。"],
    roofline_simulated: ["Simulated data: its times do not follow the shapes, so that kernels may be above the roof.", "模拟数据:其时间与形状无关,因此内核可能高于屋顶。"],
    roofline_covers: ["Of {share} % of the time of kernels the work is known, by their shapes or counters.", "{share} % 的内核时间可由形状或计数器得知其工作量。"],
    longest_rows: ["The longest {n} of {all} rows; the table \"kernel work\" has all of them.", "显示 {all} 行中最长的 {n} 行;全部见表格“kernel work”。"],
    roofline_keys: ["A circle is as large as the time of its kernels; a click, or Enter, goes to the longest of them; the four directions move.", "圆的大小表示内核时间;单击或 Enter 转到其中最长的;方向键移动。"],
    by_counters: ["(counted)", "(计数)"],
    by_no_mask: ["(without a mask)", "(不计掩码)"],
    sql: ["SQL", "SQL"],
    search: ["Search names and arguments (/)", "搜索名称和参数 (/)"],
    all_rows: ["All rows", "所有行"],
    chosen_rows: ["Selected rows", "所选行"],
    whole_range: ["Whole range", "整个范围"],
    range: ["{from} to {to}", "{from} 至 {to}"],
    to_longest: ["Show the longest slice", "显示最长的切片"],
    node: ["{name}: {total} ({share} %), {self} itself, {n} slices", "{name}:{total}({share} %),自身 {self},{n} 个切片"],
    left_out: ["{n} smaller nodes are left out", "省略了 {n} 个较小的节点"],
    key_flame: ["flame graph: Enter and Esc zoom, the four directions move", "火焰图:Enter、Esc 缩放,方向键移动"],
    allocator: ["Allocator", "分配器"],
    moment: ["Moment", "时刻"],
    peak: ["Peak", "峰值"],
    alive: ["at {at}: {n} blocks alive, {bytes}; peak {peak}", "{at}:存活 {n} 块,{bytes};峰值 {peak}"],
    memory_by_category: ["Memory by category", "按类别的内存"],
    category_peak: ["at the peak, {at}, {bytes}:", "峰值 {at},{bytes}:"],
    category_parameter: ["Parameters", "参数"],
    category_optimizer_state: ["Optimizer state", "优化器状态"],
    category_input: ["Inputs", "输入"],
    category_temporary: ["Temporary", "临时"],
    category_activation: ["Activations", "激活值"],
    category_gradient: ["Gradients", "梯度"],
    category_autograd_detail: ["Autograd detail", "自动求导细节"],
    category_unknown: ["Unknown", "未知"],
    taken_by: ["Taken by", "分配者"],
    block: ["Block", "内存块"],
    size: ["Size", "大小"],
    lives: ["Lives", "存活时长"],
    to_the_end: ["to the end", "直到结束"],
    unknown: ["unknown", "未知"],
    found: ["{at} of {n}", "第 {at} 个,共 {n} 个"],
    loading: ["Loading {name}: {stage}, {percent} %{left}{shows}", "正在加载 {name}:{stage},{percent} %{left}{shows}"],
    reading: ["reading", "读取"],
    drawing: ["drawing its timeline", "绘制时间线"],
    arranging: ["arranging its rows", "整理各行"],
    left_s: [", about {n} s left", ",约剩 {n} 秒"],
    left_min: [", about {n} min left", ",约剩 {n} 分钟"],
    shows_nothing: ["", ""],
    shows_all: ["", ""],
    shows_overview: ["; the overview is complete", ";概览已完整"],
    shows_first: ["; its first events are shown", ";已显示最初的事件"],
    no_name: ["(no name)", "(无名称)"],
    lost: ["{n}: {what}", "{n}:{what}"],
    lost_at: ["{n}: {what}, first in {file} at {at}", "{n}:{what},首处在 {file} 的 {at}"],
    losses: ["What could not be read", "无法读取的内容"],
    changed: ["{name} has changed since it was loaded, or is still being written.", "{name} 在加载后已改变,或仍在写入。"],
    gone: ["{name} is not there any more. What was loaded is still shown.", "{name} 已不存在。仍显示已加载的内容。"],
    load_again: ["Load again", "重新加载"],
    follow: ["Always load again", "总是重新加载"],
    follows: ["{name} is loaded again whenever it changes.", "{name} 一有变化就会重新加载。"],
    follow_no_more: ["No longer", "停止"],
    cut: ["(a bar with a gap is cut off at {n} medians)", "(带缺口的柱在 {n} 倍中位数处截断)"],
    simulated: ["Simulated data", "模拟数据"],
    light: ["Light", "浅色"],
    dark: ["Dark", "深色"],
    other_language: ["中文", "English"],
    selected: ["Selected: {name}, {dur}", "已选择:{name},{dur}"],
    area: ["{n} slices in {dur}", "{dur} 内有 {n} 个切片"],
    nothing: ["Nothing here", "没有内容"],
    instants: ["{n} instants", "{n} 个瞬时事件"],
    instant_of: ["Instant of", "瞬时事件范围"],
    scope_thread: ["its thread", "线程"],
    scope_process: ["its process", "进程"],
    scope_all: ["everything", "全局"],
    merged: ["{n} slices, {busy} busy", "{n} 个切片,忙碌 {busy}"],
    name: ["Name", "名称"],
    count: ["Count", "次数"],
    sum: ["Total", "总计"],
    mean: ["Mean", "平均"],
    median: ["Median", "中位数"],
    p99: ["99th percentile", "第 99 百分位"],
    longest: ["Longest", "最长"],
    category: ["Category", "类别"],
    begin: ["Begin", "开始"],
    duration: ["Duration", "时长"],
    track: ["Row", "行"],
    from: ["From", "来自"],
    to: ["To", "去往"],
    keys: ["Keys", "快捷键"],
    key_zoom: ["zoom in and out", "放大、缩小"],
    key_pan: ["move left and right", "左右移动"],
    key_fit: ["fit the selection", "适应所选内容"],
    key_mark: ["mark the selected range", "标记所选范围"],
    key_search: ["search; Enter and Shift+Enter: next and previous", "搜索;Enter、Shift+Enter:下一个、上一个"],
    key_neighbour: ["previous and next slice of the row", "本行上一个、下一个切片"],
    key_flow: ["follow a flow to its source or target", "沿流程到来源或目标"],
    key_fold: ["fold or unfold the row; Shift: its process", "折叠或展开行;Shift:其进程"],
    key_range: ["statistics of the selected range, or of what is shown", "所选范围或当前显示范围的统计"],
    key_clock: ["times from the begin, or of the machine's clock", "相对时间或机器时钟时间"],
    from_begin: ["Rel", "相对"],
    clock: ["Clock", "时钟"],
    key_pin: ["pin the row to the top", "将行固定在顶部"],
    key_picture: ["save a picture (PNG; Shift: SVG)", "保存图片(PNG;Shift:SVG)"],
    key_clear: ["clear the selection", "清除选择"],
    key_mouse: ["drag: select a range, on the axis of all rows; Shift+drag: move; Ctrl+wheel: zoom", "拖动:选择范围(在时间轴上:所有行);Shift+拖动:移动;Ctrl+滚轮:缩放"],
    close: ["Close", "关闭"],
    run: ["Run", "运行"],
    rows: ["{n} rows", "{n} 行"],
    filter: ["Filter", "筛选"],
    step: ["Step", "步骤"],
    computing: ["Computing", "计算"],
    overlapped: ["Computing and communication", "计算与通信"],
    communication: ["Exposed communication", "未掩盖通信"],
    free: ["Free", "空闲"],
    step_against: ["Step {name}: {time}, {more} against the median step ({median})", "步骤 {name}:{time},相对中位步骤({median}){more}"],
    series_title: ["{title}", "{n} 个步骤,中位数 {median}"],
    had_more: ["It had more of:", "它多出:"],
    step_time_of: ["Step {name}, {time}", "步骤 {name},{time}"],
    part: ["Part", "部分"],
    this_step: ["This step", "本步骤"],
    median_step: ["Median", "中位数"],
    difference: ["Difference", "差异"],
    show_step: ["Show this step in the timeline", "在时间线中显示此步骤"],
    strip_keys: ["← → and a click choose a step; Enter and a double click show it in the timeline.", "← → 或单击选择步骤,Enter 或双击在时间线中显示。"],
    step_time: ["Step time", "步骤时长"],
    verdicts: ["Verdicts", "结论"],
    no_verdicts: ["No rank, host, link, step or stage differs from its kind.", "没有 rank、主机、链路、步骤或流水级异于同类。"],
    verdict_collectives_differ: ["{text}", "rank {rank} 的集合通信与其他成员不一致"],
    verdict_steps_differ: ["{text}", "rank {rank} 的步骤数与多数 rank 不同"],
    verdict_clock_offset: ["{text}", "rank {rank} 的时钟与其他 rank 相差 {ms} ms"],
    verdict_slow_rank: ["{text}", "rank {rank} 的计算时间是同组的 {percent} %,其他 rank 为它等待 {ms} ms {step}"],
    verdict_late_host: ["{text}", "rank {rank} 的主机下发过晚,设备空闲;其他 rank 为它等待 {ms} ms {step}"],
    verdict_slow_step: ["{text}", "步骤 {step} 的时长是中位数的 {percent} %,多 {ms} ms"],
    verdict_slow_link: ["{text}", "链路 {rank}-{other} 的带宽只有同类的 {percent} %"],
    verdict_stage_imbalance: ["{text}", "流水级不均衡:rank {rank} 所在级的计算时间是平均的 {percent} %"],
    beside: ["shows rank {rank} beside rank {other}, which waits for it in {name}", "并排显示 rank {rank} 与在 {name} 中等待它的 rank {other}"],
    job_of: ["{n} ranks, {steps} steps", "{n} 个 rank,{steps} 个步骤"],
    drawn_ranks: ["{n} of them are in the timeline; --ranks chooses others.", "时间线包含其中 {n} 个;--ranks 可另选。"],
    ranks_and_steps: ["Ranks and steps", "rank 与步骤"],
    rank_n: ["Rank {rank}", "rank {rank}"],
    from_rank: ["From {rank}", "来自 {rank}"],
    by_process: ["Equal processes together", "同类进程并列"],
    aligned_at: ["Aligned at the begin of step", "对齐到步骤的开始"],
    all_ranks: ["All ranks", "全部 rank"],
    shows: ["Shows", "显示"],
    groups: ["Groups", "分组"],
    no_groups: ["none", "不分组"],
    links: ["Bandwidth of links", "链路带宽"],
    heat_keys: ["↑ ↓ ← → move, Enter and a click go to the timeline.", "方向键移动,Enter 或单击进入时间线。"],
    advice: ["Advice", "建议"],
    no_advice: ["Nothing was found that would save 3 % of a step.", "没有可节省 3 % 步骤时长的发现。"],
    gain: ["{title}: {gain} a step, {percent} %", "{title}:每步 {gain},{percent} %"],
    change: ["Change", "改进"],
    not_checked: ["Not checked, because it was not recorded", "因未采集而未检查"],
    check_slow_rank: ["{title}", "其他 rank 等待的慢 rank"],
    check_data_loader: ["{title}", "等待数据"],
    check_free_time: ["{title}", "设备空闲"],
    check_synchronisation: ["{title}", "频繁同步"],
    check_gc: ["{title}", "垃圾回收"],
    check_memory_operators: ["{title}", "分配或释放设备内存"],
    check_copies: ["{title}", "内存拷贝"],
    check_frequency: ["{title}", "频率降低"],
    check_ai_cpu: ["{title}", "AI CPU 算子"],
    check_block_dim: ["{title}", "核未占满"],
    check_small_packets: ["{title}", "小包传输"],
    check_byte_alignment: ["{title}", "字节未对齐"],
    check_slow_link: ["{title}", "慢链路"],
    check_retransmission: ["{title}", "重传"],
    comparison: ["A: {a}, B: {b}", "A:{a},B:{b}"],
    per_step: ["A usual step", "通常的一步"],
    changes: ["What changed", "变化"],
    difference_real: ["real", "真实差异"],
    difference_noise: ["within noise", "噪声之内"],
    difference_unknown: ["noise unknown", "噪声未知"],
    server_gone: ["The server does not answer: start `ascope view` again, or the tunnel to it.", "服务没有响应:请重新运行 `ascope view` 或恢复隧道。"],
};

let language = /** @type {0|1} */ (0);

/** @param {string} key @param {Record<string, string|number>} [of] */
export function word(key, of = {}) {
    return (words[key]?.[language] ?? key).replace(/\{(\w+)\}/g, (_, name) => String(of[name] ?? ""));
}

/** @param {string} code "en" or "zh" */
export function speak(code) {
    language = code === "zh" ? 1 : 0;
    document.documentElement.lang = code === "zh" ? "zh" : "en";
}

const UNITS = /** @type {[number, string][]} */ ([[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);

/** A duration, with the digits that tell: 12.3 ms. @param {number} ns */
export function duration(ns) {
    for (const [size, unit] of UNITS)
        if (Math.abs(ns) >= size) {
            const v = ns / size;
            return (Math.abs(v) >= 100 ? v.toFixed(0) : Math.abs(v) >= 10 ? v.toFixed(1) : v.toFixed(2)) + " " + unit;
        }
    return Math.round(ns) + " ns";
}

/** A moment of an axis whose marks are step_ns apart. @param {number} ns @param {number} step_ns */
export function moment(ns, step_ns) {
    const [size, unit] = UNITS.find(([s]) => Math.abs(ns) >= s && step_ns >= s / 1000) ?? [1, "ns"];
    const digits = Math.max(0, Math.ceil(Math.log10(size / step_ns)));
    return (ns / size).toFixed(Math.min(9, digits)) + " " + unit;
}

/** @param {number} n */
export function bytes(n) {
    for (const [size, unit] of /** @type {[number, string][]} */ ([[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]))
        if (Math.abs(n) >= size) return (n / size).toFixed(Math.abs(n) >= 100 * size ? 0 : 2) + " " + unit;
    return n + " B";
}

/** A number as large as they come, with three digits: 354 T. @param {number} n */
export function magnitude(n) {
    for (const [size, unit] of /** @type {[number, string][]} */ ([[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]))
        if (n >= size) return Number((n / size).toPrecision(3)) + " " + unit;
    return String(Number(n.toPrecision(3)));
}

/** @param {number} n */
export function grouped(n) {
    return n.toLocaleString(language ? "zh-CN" : "en-US");
}
