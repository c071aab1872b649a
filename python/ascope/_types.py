# SPDX-License-Identifier: Apache-2.0
"""The types of tables (docs/sql.md) and of reports (docs/json.md): scripts/data_types.py makes this file."""
from typing import Any, Dict, List, TypedDict, Union

from ascope._columns import Table, Texts


class RanksTable(Table):
    """A row for each rank: a device, or the host if there is none."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    path: Texts  # directory or file with its data
    kind: Texts  # npu, gpu, or host: no device was recorded
    n_steps: memoryview  # steps that were recorded
    median_step_ns: memoryview  # time of the median step; NULL: there are no steps [ns]
    n_kernels: memoryview  # kernels of the recording
    is_simulated: memoryview  # 1: the data is not from a real device


class StepsTable(Table):
    """Training steps, or iterations, and what the device did in them."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    name: Texts  # number or name of the step
    begin_ns: memoryview  # begin, by the clock of its machine, since 1970 [ns]
    dur_ns: memoryview  # duration: the sum of the next four [ns]
    computing_ns: memoryview  # kernels run and nothing is communicated; without a device: operators [ns]
    overlapped_ns: memoryview  # computing and communication at the same time [ns]
    communication_ns: memoryview  # exposed communication: no kernel runs meanwhile [ns]
    free_ns: memoryview  # the device has nothing to do [ns]
    is_slow: memoryview  # 1: slow against the usual steps, as ascope why judges it
    is_start_up: memoryview  # 1: a step at the begin that takes longer, which is no fault


class KernelsTable(Table):
    """What computes on devices."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    name: Texts  # name of the kernel
    begin_ns: memoryview  # begin, by the clock of its machine, since 1970 [ns]
    dur_ns: memoryview  # duration [ns]
    stream: memoryview  # of the device; NULL: unknown
    step: Texts  # name of the step that launched it; NULL: none
    operator: Texts  # operator of the framework that launched it; NULL: unknown
    type: Texts  # type of its operator on the device, or else its name
    cores: Texts  # of an NPU: the cores that ran it, such as AI_CORE or AI_CPU; NULL: unknown
    blocks: memoryview  # blocks that it was launched with; NULL: unknown
    launch_ns: memoryview  # begin of the call of the host that launched it; NULL: unknown [ns]


class CollectivesTable(Table):
    """Communication on devices."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    name: Texts  # name of the collective
    begin_ns: memoryview  # begin, by the clock of its machine, since 1970 [ns]
    dur_ns: memoryview  # duration [ns]
    process_group: Texts  # group of ranks that communicates; NULL: unknown
    step: Texts  # name of the step that launched it; NULL: none
    kind: Texts  # allreduce, allgather, reducescatter, alltoall, broadcast, send, recv, …; NULL: unknown
    elements: memoryview  # elements of the message; NULL: unknown
    bytes: memoryview  # size of the message; NULL: unknown [bytes]
    n_ranks: memoryview  # ranks of its group; NULL: unknown


class CopiesTable(Table):
    """Copies of memory by devices."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    name: Texts  # name of the copy
    begin_ns: memoryview  # begin, by the clock of its machine, since 1970 [ns]
    dur_ns: memoryview  # duration [ns]
    stream: memoryview  # of the device; NULL: unknown
    step: Texts  # name of the step that launched it; NULL: none
    operator: Texts  # operator of the framework that launched it; NULL: unknown
    bytes: memoryview  # size; NULL: unknown [bytes]
    direction: Texts  # to device, to host; NULL: within a device, or unknown
    launch_ns: memoryview  # begin of the call of the host that launched it; NULL: unknown [ns]


class CallsTable(Table):
    """Calls of the vendor's libraries (CANN, CUDA) on the host."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    name: Texts  # function of the vendor's libraries
    begin_ns: memoryview  # begin, by the clock of its machine, since 1970 [ns]
    dur_ns: memoryview  # duration [ns]
    thread: Texts  # thread of the host: its number, or its name in a trace
    step: Texts  # name of the step during which it began; NULL: none


class OperatorsTable(Table):
    """Operators of the framework on the host."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    name: Texts  # operator of the framework, on the host
    begin_ns: memoryview  # begin, by the clock of its machine, since 1970 [ns]
    dur_ns: memoryview  # duration [ns]
    thread: Texts  # thread of the host: its number, or its name in a trace
    step: Texts  # name of the step during which it began; NULL: none


class RangesTable(Table):
    """Ranges that the user or a library marked."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    name: Texts  # range that the user or a library marked
    begin_ns: memoryview  # begin, by the clock of its machine, since 1970 [ns]
    dur_ns: memoryview  # duration [ns]
    thread: Texts  # thread of the host: its number, or its name in a trace
    step: Texts  # name of the step during which it began; NULL: none


class PythonTable(Table):
    """Python functions, if they were recorded."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    name: Texts  # Python function
    begin_ns: memoryview  # begin, by the clock of its machine, since 1970 [ns]
    dur_ns: memoryview  # duration [ns]
    thread: Texts  # thread of the host: its number, or its name in a trace
    step: Texts  # name of the step during which it began; NULL: none


class MemoryTable(Table):
    """Blocks of memory, of collections with profile_memory."""
    run: Texts  # the recording: the last part of its path, as it was given
    rank: memoryview  # number in the job; NULL: unknown
    device: memoryview  # number of the device; NULL: unknown, or the host
    name: Texts  # operator that allocated the block; NULL: unknown
    allocator: Texts  # where it lies: NPU 0, GPU 0, CPU
    bytes: memoryview  # size [bytes]
    begin_ns: memoryview  # allocated, by the clock of its machine, since 1970 [ns]
    end_ns: memoryview  # released; NULL: not released [ns]


class ReportAlways(TypedDict):
    ascope: str
    schema: int
    command: str
    exit_code: int


class Report(ReportAlways, total=False):
    collections: List['PROFResult']
    directories: List[Union['PyTorchResult', 'PROFResult']]
    ranks: List['Rank']
    judged: List['JudgedFinding']
    traces: List['Trace']
    stacks: List['Stacks']
    timelines: List['MemoryTimeline']
    models: List['Model']
    listeners: List['Listener']
    waited_for: List['DynamicResult']
    saved: List['SavedWindow']
    program: Union['Program', None]
    interrupted: bool
    checks: List['Check']
    verdict: str
    records_host: bool
    auto_device: Union[str, None]
    devices_found: int
    options: List['Option']
    front_end: str
    accepted: bool
    profiling: bool
    data_mask: str
    results: List['OptionResult']
    job_ranks: List['FoundRank']
    tables: List['ClusterFile']
    notes: List['Note']
    findings: List[str]
    mode_notes: List[str]
    verdicts: List['Verdict']
    has_compared: bool
    start_up: Union[str, None]
    critical_path: Union['CriticalPath', None]
    ranks_read: int
    ranks_with_losses: int
    ranks_left_out: int
    answers: List['Why']
    comparisons: List['Comparison']
    gates: List['Gate']
    hangs: List['Hang']
    samplings: List['Sampling']
    alarms: List['Alarm']
    monitors: List['Monitor']
    queries: List['Query']
    tables_of_sql: List['SQLTable']
    memories: List['Memory']
    memory_series: 'MemorySeries'
    advice: List['Advice']
    advise_checks: List['AdviseCheck']
    remarks: List['Remark']


class FoundRank(TypedDict):
    rank: int
    path: str
    source: str


class Verdict(TypedDict):
    kind: str
    text: str
    about: Union[str, None]
    rank: Union[int, None]
    other_rank: Union[int, None]
    step: Union[str, None]
    shape: Union[str, None]
    ratio: float
    ms: float


class CriticalPath(TypedDict):
    step: Union[str, None]
    ns: int
    segments: int
    ranks: int
    parts: List['PathPart']


class PathPart(TypedDict):
    kind: str
    rank: Union[int, None]
    name: str
    group: Union[str, None]
    group_name: str
    segments: int
    ns: int
    saved_ns: int


class ClusterFile(TypedDict):
    path: str
    rows: int


class Note(TypedDict):
    text: str
    is_loss: bool


class PROFResultAlways(TypedDict):
    path: str


class PROFResult(PROFResultAlways, total=False):
    error: str
    chip: Union[str, None]
    platform: int
    hostname: str
    simulated: bool
    devices: List[int]
    begin_ns: int
    end_ns: int
    has_end: bool
    counts: 'Counts'
    files: List['File']
    top_operators: List['Sum']
    ranges: List['Range']
    host: Union['HostUse', None]
    steps: List['Step']
    step_medians: List['StepMedian']
    losses: List['Loss']
    recording: Union['Recording', None]
    problems: List[str]
    seconds: 'Seconds'


class Program(TypedDict):
    name: str
    exit_status: Union[int, None]
    signal: Union[int, None]
    use: Union['ProgramUse', None]


class ProgramUse(TypedDict):
    wall_s: float
    user_s: float
    system_s: float
    peak_bytes: int


class PyTorchResultAlways(TypedDict):
    path: str


class PyTorchResult(PyTorchResultAlways, total=False):
    error: str
    summary: str
    is_current: bool
    rank: Union[int, None]
    simulated: bool
    files: List['File']
    steps: List['Step']
    step_medians: List['StepMedian']
    most_memory: 'MostMemory'
    top_on_device: List['Sum']
    top_on_host: List['Sum']
    top_in_python: List['Sum']
    ranges: List['Range']
    losses: List['Loss']
    recording: Union['Recording', None]
    problems: List[str]
    seconds: 'Seconds'


class Step(TypedDict):
    device: Union[int, None]
    step: Union[str, None]
    time_us: float
    computing_us: float
    overlapped_us: float
    communication_us: float
    free_us: float
    device_end_us: Union[float, None]
    slow: bool


class StepMedian(TypedDict):
    device: Union[int, None]
    model: Union[int, None]
    steps: int
    slow: int
    time_us: float
    computing_us: float
    overlapped_us: float
    communication_us: float
    free_us: float
    judged: List['JudgedFinding']
    step_trace_time_lacks: int
    step_trace_time_differs: int


class Rank(TypedDict):
    rank: Union[int, None]
    directory: str
    steps: int
    time_us: float
    computing_us: float
    overlapped_us: float
    communication_us: float
    free_us: float
    slow: bool
    duplicate: bool
    more_in: Union[str, None]
    more_us: Union[float, None]


JudgedFindingAlways = TypedDict('JudgedFindingAlways', {'shape': str, 'text': str, 'because': Union[str, None], 'class': Union[str, None], 'rank': Union[str, None], 'compared_with': Union[str, None], 'part': Union[str, None], 'first': str, 'last': str, 'steps': int, 'period': Union[int, None], 'more_us': float, 'lost_us': float, 'share': float, 'noise_us': float, 'causes': Dict[str, float]})


class JudgedFinding(JudgedFindingAlways, total=False):
    first_unix_ns: int


class Counts(TypedDict):
    calls: int
    operators: int
    tasks: int
    collectives: int
    steps: int
    marks: int


class File(TypedDict):
    path: str
    rows: int
    bytes: int


class Sum(TypedDict):
    name: str
    count: int
    total_us: float


class Range(TypedDict):
    domain: Union[str, None]
    name: str
    count: int
    total_us: float
    mean_us: float
    p50_us: float
    p99_us: float
    max_us: float


class Loss(TypedDict):
    reason: str
    text: str
    damage: bool
    count: int
    file: Union[str, None]
    offset: int


class Seconds(TypedDict):
    read: float
    analyse: float
    write: float


class MostMemory(TypedDict):
    allocated: Union['Peak', None]
    reserved: Union['Peak', None]
    since_recording: bool


class Peak(TypedDict):
    bytes: int
    by_allocator: Dict[str, int]
    time_ns: int
    device: int
    operator: str


class HostUseAlways(TypedDict):
    pass


class HostUse(HostUseAlways, total=False):
    cpu: 'CpuUse'
    memory: 'MemoryUse'
    disk: 'DiskUse'
    network: 'NetworkUse'
    calls: 'Calls'


class CpuUse(TypedDict):
    user_s: float
    system_s: float
    cpus_in_use: float
    threads: int
    by_thread: List['ThreadTime']


class ThreadTime(TypedDict):
    name: str
    thread: int
    user_s: float
    system_s: float


class MemoryUse(TypedDict):
    peak_bytes: int
    total_bytes: int


class DiskUse(TypedDict):
    read_bytes: int
    written_bytes: int


class NetworkUse(TypedDict):
    received_bytes: int
    sent_bytes: int
    loopback_bytes: int


class Calls(TypedDict):
    count: int
    total_us: float
    by_name: List['CallSum']


class CallSum(TypedDict):
    name: str
    count: int
    total_us: float
    max_us: float


class Recording(TypedDict):
    ascope: str
    abi: Union[int, None]
    simulated: bool
    device: str
    ended: str
    has_rings: bool
    is_running: bool
    flight: Union['Flight', None]
    clock: 'HostClock'
    devices: List['DeviceClock']
    written: 'Written'
    dropped: List['Dropped']
    aged: 'Aged'
    open_ranges: Union[int, None]
    hook_ns: Union[int, None]
    lag_most_ns: Union[int, None]
    fill_most_percent: Union[int, None]
    threads: Union[int, None]
    steps: List['StepCost']


class Flight(TypedDict):
    trigger: str
    begin_unix_ns: Union[int, None]
    end_unix_ns: Union[int, None]
    records: Union[int, None]
    began_before: Union[int, None]
    dropped_history: Union['TimeSpan', None]
    short_ns: Union[int, None]


class TimeSpan(TypedDict):
    begin_unix_ns: Union[int, None]
    end_unix_ns: Union[int, None]


class HostClock(TypedDict):
    kind: str
    mhz: Union[float, None]
    first_mhz: Union[float, None]
    start_uncertainty_ns: Union[int, None]
    stop_uncertainty_ns: Union[int, None]


class DeviceClock(TypedDict):
    id: Union[int, None]
    start_uncertainty_ns: Union[int, None]
    stop_uncertainty_ns: Union[int, None]
    nominal_mhz: Union[float, None]
    mhz: Union[float, None]
    drift_ppm: Union[float, None]


class Written(TypedDict):
    records: Union[int, None]
    bytes: Union[int, None]


class Aged(TypedDict):
    slices: Union[int, None]
    bytes: Union[int, None]


class Dropped(TypedDict):
    what: str
    count: Union[int, None]
    reason: str


class StepCost(TypedDict):
    step: int
    records: Union[int, None]
    bytes: Union[int, None]
    dropped: Union[int, None]
    hook_ns: Union[int, None]
    lag_most_ns: Union[int, None]


class PROFInfo(TypedDict):
    path: str
    simulated: bool
    folders: List['Folder']
    recording: Union['Recording', None]
    losses: List['Loss']


class FolderAlways(TypedDict):
    name: str
    files: int
    bytes: int


class Folder(FolderAlways, total=False):
    error: str
    platform: int
    chip: str
    product: str
    hostname: str
    begin_ns: int
    end_ns: int
    has_end: bool
    host_counter_mhz: float
    device_counter_mhz: float
    wall_drift_ns: int
    clock_shift_ns: int
    slices_missing: int
    slices_aged: int
    streams: List['Stream']


class Stream(TypedDict):
    family: str
    unaging: bool
    slices: int
    bytes: int
    records: Union[int, None]
    read: bool


class PyTorchInfo(TypedDict):
    path: str
    framework: Union[str, None]
    simulated: bool
    rank: Union[int, None]
    level: str
    cpu: bool
    npu: bool
    text: bool
    db: bool
    options: Dict[str, bool]
    bytes: Dict[str, int]
    recording: Union['Recording', None]
    losses: List['Loss']


class TraceInfo(TypedDict):
    path: str
    file: str
    format: str
    bytes: int
    rank: Union[int, None]
    world_size: Union[int, None]
    device: Union[str, None]
    begin_ns: int
    end_ns: int
    steps: int
    steps_by: Union[str, None]
    processes: int
    tracks: int
    instants: int
    counters: int
    flows: int
    slices: Dict[str, int]
    losses: List['Loss']


class Recovery(TypedDict):
    path: str
    ended: str
    records: int
    bytes: int
    damaged: int
    open_ranges: int


class Made(TypedDict):
    path: str


class Trace(TypedDict):
    file: str
    events: int
    losses: List['Loss']


class StacksAlways(TypedDict):
    metric: str
    lines: int
    losses: List['Loss']


class Stacks(StacksAlways, total=False):
    file: str
    graph: str


class MemoryTimeline(TypedDict):
    file: str
    device: str
    points: int
    peak_bytes: int
    peak_us: int
    peak_by_category: Dict[str, int]
    before_bytes: int
    max_allocated_bytes: int
    max_reserved_bytes: int
    since_recording: bool
    losses: List['Loss']


class Model(TypedDict):
    path: str
    job: Union[str, None]
    device: Union[int, None]
    folder: str
    begin: Union[str, None]
    model: Union[int, None]
    iterations: Union[int, None]
    slowest: List[int]
    rank: Union[int, None]


class Option(TypedDict):
    key: str
    value: str
    given: bool
    effective: bool


class OptionResult(TypedDict):
    option: str
    layers: List[str]
    files: List[str]


class Remark(TypedDict):
    severity: str
    line: int
    column: int
    key: Union[str, None]
    code: str
    text: str


class Check(TypedDict):
    area: str
    name: str
    state: str
    needed: bool
    fact: str
    effect: str
    advice: str
    looked_at: str


Comparison = TypedDict('Comparison', {'a': str, 'b': str, 'runs_a': List[str], 'runs_b': List[str], 'noise_known': bool, 'autocorrelation': float, 'different_devices': bool, 'overall': 'ComparedParts', 'memory': 'ComparedMemory', 'class': Union[str, None], 'size': Union[float, None], 'classes': List['ComparedClass'], 'ranks': List['ComparedRank'], 'alone_a': int, 'alone_b': int, 'steps': List['ComparedStep'], 'changes': List['ComparedRow'], 'rows': List['ComparedRow']})


ComparedClass = TypedDict('ComparedClass', {'class': str, 'a_iterations': int, 'b_iterations': int, 'a_median_us': Union[float, None], 'b_median_us': Union[float, None], 'a_tokens_per_s': Union[float, None], 'b_tokens_per_s': Union[float, None]})


class Monitor(TypedDict):
    path: str
    begin_unix_ns: int
    end_unix_ns: int
    alive: int
    block: int
    steps_per_s: float
    step_us: float
    is_waiting_guessed: bool
    ranks: List['MonitoredRank']
    findings: List['JudgedFinding']


class MonitoredRank(TypedDict):
    rank: Union[int, None]
    host: str
    pid: int
    file: str
    is_alive: bool
    has_ended: bool
    step: int
    steps_per_s: float
    step_us: float
    longest_us: float
    computing_us: float
    communication_us: float
    free_us: float
    last_unix_ns: int
    values: Dict[str, Union[float, None]]


class Alarm(TypedDict):
    rank: Union[int, None]
    text: str
    since_unix_ns: int
    began_unix_ns: int
    ended_unix_ns: Union[int, None]
    more_us: float
    share: float


class HangAlways(TypedDict):
    verdict: str
    text: str
    ranks: List[int]
    group: Union[str, None]
    group_desc: Union[str, None]
    kind: Union[str, None]
    number: Union[int, None]
    waits: List['HangWait']
    cycle: List[int]
    ranks_without_dump: List[int]
    ranks_of_job: int


class Hang(HangAlways, total=False):
    has_moved: bool
    processes: List['LiveProcess']


class Sampling(TypedDict):
    seconds: float
    looks: int
    late: int
    on: int
    off: int
    file: Union[str, None]
    on_frames: List['SampledFrame']
    off_frames: List['SampledFrame']


class SampledFrame(TypedDict):
    frame: str
    samples: int
    with_callees: int
    error_percent: float


class LiveProcess(TypedDict):
    pid: int
    parent: int
    rank: Union[int, None]
    name: str
    steps: Union[int, None]
    no_stacks_because: Union[str, None]
    threads: List['LiveThread']


class LiveThread(TypedDict):
    id: int
    name: str
    doing: str
    system_call: Union[str, None]
    holds_gil: bool
    python: List['LiveFrame']


class LiveFrame(TypedDict):
    file: str
    line: int
    function: str


class HangWait(TypedDict):
    group: str
    group_desc: str
    kind: str
    number: int
    is_transfer: bool
    verdict: str
    members: List['HangMember']


class HangMember(TypedDict):
    rank: int
    part: str
    call: Union['HangCall', None]
    is_at: Union['HangCall', None]


class HangCall(TypedDict):
    kind: str
    number: int
    group: str
    sizes: str
    types: str
    state: str
    file: Union[str, None]
    line: Union[int, None]
    function: Union[str, None]


class Query(TypedDict):
    sql: str
    columns: List[str]
    rows: List[List[Union[str, float, None]]]
    n_rows: int
    is_cut: bool


class SQLTable(TypedDict):
    name: str
    meaning: str
    columns: List['SQLColumn']


class SQLColumn(TypedDict):
    name: str
    type: str
    unit: str
    meaning: str


class Memory(TypedDict):
    path: str
    device: int
    verdict: str
    text: str
    findings: List[str]
    steps: int
    steps_by: str
    peak_bytes: int
    peak_reserved_bytes: int
    peak_step: int
    peak: 'MemoryInUse'
    growth_bytes_a_step: float
    growth: List['MemoryGrowth']
    fragmentation: Union['MemoryHoles', None]
    out_of_memory: Union['MemoryFailure', None]


class MemorySeries(TypedDict):
    kind: str
    text: str
    snapshots: List['MemorySnapshot']


class MemorySnapshot(TypedDict):
    path: str
    rank: Union[int, None]
    device: int
    peak_bytes: int
    peak_reserved_bytes: int
    end_bytes: int


class MemoryInUse(TypedDict):
    bytes: int
    purposes: List['MemoryPurpose']
    places: List['MemoryPlace']


class MemoryPurpose(TypedDict):
    purpose: str
    bytes: int


class MemoryPlace(TypedDict):
    bytes: int
    blocks: int
    purpose: str
    place: Union['MemoryFrame', None]
    stack: List['MemoryFrame']


class MemoryFrame(TypedDict):
    file: str
    line: int
    function: str


class MemoryGrowth(TypedDict):
    bytes_a_step: float
    bytes: int
    blocks: int
    since_step: int
    steps: int
    place: Union['MemoryFrame', None]
    stack: List['MemoryFrame']


class MemoryHoles(TypedDict):
    reserved_bytes: int
    allocated_bytes: int
    requested_bytes: int
    free_segment_bytes: int
    hole_bytes: int
    holes: int
    largest_hole_bytes: int
    segments_reserved: int
    segments_avoidable: int
    avoidable_bytes: int
    held_by: List['MemoryPin']


class MemoryPin(TypedDict):
    hole_bytes: int
    bytes: int
    blocks: int
    place: Union['MemoryFrame', None]


class MemoryFailure(TypedDict):
    times: int
    cause: str
    asked_bytes: int
    device_free_bytes: int
    used_bytes: int
    reserved_bytes: int
    reserved_free_bytes: int
    is_limit: bool
    place: Union['MemoryFrame', None]
    use: 'MemoryInUse'
    missing_bytes: Union[int, None]
    smaller_batch_percent: Union[float, None]
    shards: Union[int, None]


class Gate(TypedDict):
    verdict: str
    text: str
    doubt: Union[str, None]
    decided_by: Union[str, None]
    measures: List['GateMeasure']
    comparison: Union['Comparison', None]


class GateMeasure(TypedDict):
    measure: str
    unit: str
    a: Union[float, None]
    b: Union[float, None]
    noise: Union[float, None]
    allowed_percent: Union[float, None]
    verdict: Union[str, None]
    steps_wanted: Union[int, None]
    runs_wanted: Union[int, None]


class ComparedParts(TypedDict):
    step: 'ComparedValue'
    computing: 'ComparedValue'
    communication: 'ComparedValue'
    free: 'ComparedValue'


class ComparedValue(TypedDict):
    a_us: float
    b_us: float
    more_us: float
    noise_us: Union[float, None]
    state: str


class ComparedMemory(TypedDict):
    allocated: 'ComparedPeak'
    reserved: 'ComparedPeak'


class ComparedPeak(TypedDict):
    a_bytes: Union[int, None]
    b_bytes: Union[int, None]


class ComparedRank(TypedDict):
    a: 'ComparedRun'
    b: 'ComparedRun'
    overall: 'ComparedParts'


class ComparedRun(TypedDict):
    path: str
    rank: Union[int, None]
    device: Union[int, None]
    kind: str
    steps: int
    usual: int
    steps_by: Union[str, None]


class ComparedStep(TypedDict):
    a: Union[str, None]
    b: Union[str, None]
    a_us: float
    b_us: float
    a_slow: bool
    b_slow: bool


class ComparedRow(TypedDict):
    kind: str
    name: str
    detail: Union[str, None]
    step: 'ComparedValue'
    a: 'ComparedSide'
    b: 'ComparedSide'
    because_of_runs_us: float
    most_on: int
    most_us: float


class ComparedSide(TypedDict):
    count: int
    total_us: float
    mean_us: Union[float, None]
    min_us: float
    max_us: float
    runs: float


class Why(TypedDict):
    steps: List['JobStep']
    ranks: List['JobRank']
    median_us: float
    slow: int
    steps_by: Union[str, None]
    iterations: Union['Iterations', None]
    requests: Union['Requests', None]
    request: Union['ExplainedRequest', None]
    not_read: int
    judged: List['JudgedFinding']
    stages: List['JudgedFinding']
    explains: Union[str, None]
    step: Union[str, None]
    on: int
    compared_with: Union[int, None]
    waited_for: bool
    waited_us: Union[float, None]
    difference: Union['Difference', None]
    usual: 'UsualStep'
    advice: List['Advice']


JobStep = TypedDict('JobStep', {'step': str, 'time_us': float, 'ranks': int, 'longest': int, 'slow': bool, 'class': Union[str, None], 'requests': Union[int, None], 'tokens': Union[int, None], 'kv': Union[int, None]})


class Iterations(TypedDict):
    classes: List['IterationClass']
    time_us: float
    between_us: float
    median_between_us: float
    between: List['Phase']
    interval: Union['Distribution', None]
    behind_prompts: int
    behind_prompts_us: float
    longest_behind_us: float
    idle_in_decodes: List['Phase']


class Phase(TypedDict):
    name: str
    time_us: float


class Distribution(TypedDict):
    n: int
    p50_us: float
    p90_us: float
    p99_us: float
    most_us: float


IterationClass = TypedDict('IterationClass', {'class': str, 'iterations': int, 'median_us': float, 'time_us': float, 'share': float, 'computing_share': float, 'requests': Union[int, None], 'tokens': Union[int, None], 'tokens_per_s': Union[float, None]})


class Requests(TypedDict):
    ttft: Union['Distribution', None]
    tpot: Union['Distribution', None]
    itl: Union['Distribution', None]
    total: Union['Distribution', None]
    slowest: str
    requests: List['Request']


class Request(TypedDict):
    id: str
    tokens: int
    ttft_us: Union[float, None]
    tpot_us: Union[float, None]
    time_us: float


class ExplainedRequest(TypedDict):
    id: str
    tokens: int
    time_us: float
    ttft_us: Union[float, None]
    tpot_us: Union[float, None]
    longest_interval_us: float
    complete: bool
    stages: List['RequestStage']


class RequestStage(TypedDict):
    stage: str
    time_us: float
    parts: List['RequestPart']


class RequestPart(TypedDict):
    what: str
    time_us: float
    share: float
    longest_us: float
    step: Union[str, None]


class JobRank(TypedDict):
    path: str
    rank: Union[int, None]
    device: Union[int, None]
    steps: int
    time_us: float
    own_us: float
    communication_us: float


class Difference(TypedDict):
    time_us: float
    usual_us: float
    more_us: float
    causes: Dict[str, float]
    rest_us: float
    items: List['DifferenceItem']
    others_us: float
    others: int
    compared: int
    thread_usual: Union['StepThread', None]
    thread: Union['StepThread', None]


class StepThread(TypedDict):
    processor_us: float
    ready_us: float
    blocked_us: float
    page_faults: float
    disk_faults: float


class DifferenceItem(TypedDict):
    cause: str
    named: Union[str, None]
    name: Union[str, None]
    share: float
    more_us: float
    before_us: float
    after_us: float
    before_runs: Union[float, None]
    after_runs: Union[float, None]
    before_mhz: Union[float, None]
    after_mhz: Union[float, None]
    place: Union['Place', None]


class PlaceAlways(TypedDict):
    begin_ns: int
    dur_ns: int
    process: Union[str, None]
    thread: Union[str, None]
    event: Union[str, None]
    step: Union[str, None]
    in_step_ns: Union[int, None]
    in_recording_ns: Union[int, None]
    view: str


class Place(PlaceAlways, total=False):
    between: 'Neighbours'


class Neighbours(TypedDict):
    host_before: Union[str, None]
    host_after: Union[str, None]
    device_before: Union[str, None]
    device_after: Union[str, None]


class UsualStep(TypedDict):
    time_us: float
    steps: int
    whole: bool
    host: bool
    knows_waits: bool
    by_type: bool
    parts: List['UsualPart']


class UsualPart(TypedDict):
    part: str
    time_us: float
    share: float
    most: List['UsualName']


class UsualName(TypedDict):
    name: str
    time_us: float


class Advice(TypedDict):
    check: str
    title: str
    rank: Union[int, None]
    path: str
    gain_us: float
    share: float
    ranks: int
    startup_steps: int
    once: Union[str, None]
    where: Union[str, None]
    lost_us: float
    more_us: float
    more: Union[str, None]
    found: str
    change: str
    evidence: List['Evidence']


class Evidence(TypedDict):
    text: str
    gain_us: float
    place: Union['Place', None]


class AdviseCheck(TypedDict):
    check: str
    title: str
    state: str
    needs: str


class Listener(TypedDict):
    host: str
    age_s: float
    pid: int
    rank: Union[int, None]
    state: str
    step: int
    start_step: Union[int, None]
    stop_step: Union[int, None]
    request: str
    done: int
    last: Union[str, None]


class SavedWindow(TypedDict):
    recorder: str
    path: Union[str, None]
    state: str


class DynamicResult(TypedDict):
    host: str
    pid: int
    rank: Union[int, None]
    result: str
    path: Union[str, None]
    start_step: Union[int, None]
    stop_step: Union[int, None]
    reason: Union[str, None]
