# bash completion for ascope; made from the option tables by: ascope completion bash
_ascope_offer()
{
    mapfile -t COMPREPLY < <(compgen "$@" -- "${COMP_WORDS[COMP_CWORD]}")
}

_ascope()
{
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words options what=-d at=2
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _ascope_offer -W 'run dyn recover doctor options why advise compare gate hang top sample monitor memory cluster view sql mcp analyse export export-trace export-memory-timeline export-stacks communication info query sim install-msprof completion help --version --help'
        return
    fi
    case $command in
    analyze) command=analyse ;;
    profile) command=run ;;
    record) command=run ;;
    esac
    case "$command ${COMP_WORDS[COMP_CWORD - 1]}" in
    'run --out' | 'run --output') compopt -o filenames; _ascope_offer -d; return ;;
    'run --host-sys') _ascope_offer -W 'none cpu mem disk network osrt numa'; return ;;
    'run --device') _ascope_offer -W 'auto none ascend cuda mspti sim'; return ;;
    'run --level') _ascope_offer -W 'off 0 1 2 3'; return ;;
    'run --metrics') return ;;
    'run --delay') return ;;
    'run --duration') return ;;
    'run --period') return ;;
    'run --hang-after') return ;;
    'run --pid' | 'run --attach') return ;;
    'run --env') return ;;
    'run --storage-limit') return ;;
    'run --acl-json') compopt -o filenames; _ascope_offer -f; return ;;
    'run --monitor') compopt -o filenames; _ascope_offer -d; return ;;
    'run --skip-first') return ;;
    'run --skip-first-wait') return ;;
    'run --wait') return ;;
    'run --warmup') return ;;
    'run --active') return ;;
    'run --repeat') return ;;
    'run --dialect') _ascope_offer -W 'documented current'; return ;;
    'run --time-base') _ascope_offer -W 'epoch start'; return ;;
    'run --threads') return ;;
    'run --memory-limit') return ;;
    'run --top') return ;;
    'dyn --steps') return ;;
    'dyn --warmup') return ;;
    'dyn --start-step') return ;;
    'dyn --ranks') return ;;
    'dyn --level') _ascope_offer -W 'Level0 Level1 Level2 Level_none'; return ;;
    'dyn --out') compopt -o filenames; _ascope_offer -d; return ;;
    'dyn --timeout') return ;;
    'dyn --last') return ;;
    'dyn --when') return ;;
    'recover -dir' | 'recover --collection-dir') compopt -o filenames; _ascope_offer -d; return ;;
    'doctor --out') compopt -o filenames; _ascope_offer -d; return ;;
    'doctor --prove') compopt -o filenames; _ascope_offer -d; return ;;
    'doctor --python') compopt -o filenames; _ascope_offer -f; return ;;
    'options --as') _ascope_offer -W 'profiling_options acl.json'; return ;;
    'options --chip') _ascope_offer -W 'A2 A3 910 310 310P 310B 950 MDC Tiny MDC-mini'; return ;;
    'why -dir' | 'why --collection-dir') compopt -o filenames; _ascope_offer -d; return ;;
    'why --step') return ;;
    'why --rank') return ;;
    'why --request') return ;;
    'why --steps-by') return ;;
    'why --top') return ;;
    'why --threads') return ;;
    'why --memory-limit') return ;;
    'advise -dir' | 'advise --collection-dir') compopt -o filenames; _ascope_offer -d; return ;;
    'advise --html') compopt -o filenames; _ascope_offer -f; return ;;
    'advise --steps-by') return ;;
    'advise --threads') return ;;
    'advise --memory-limit') return ;;
    'compare --out') compopt -o filenames; _ascope_offer -d; return ;;
    'compare --steps-by') return ;;
    'compare --top') return ;;
    'compare --threads') return ;;
    'compare --memory-limit') return ;;
    'gate --allow') return ;;
    'gate --markdown') compopt -o filenames; _ascope_offer -f; return ;;
    'gate --junit') compopt -o filenames; _ascope_offer -f; return ;;
    'gate --sarif') compopt -o filenames; _ascope_offer -f; return ;;
    'gate --steps-by') return ;;
    'gate --top') return ;;
    'gate --threads') return ;;
    'gate --memory-limit') return ;;
    'top --window') return ;;
    'sample --hz') return ;;
    'sample --seconds') return ;;
    'sample --top') return ;;
    'monitor --listen') return ;;
    'monitor --token-file') compopt -o filenames; _ascope_offer -f; return ;;
    'monitor --hook') return ;;
    'monitor --flight') compopt -o filenames; _ascope_offer -d; return ;;
    'monitor --window') return ;;
    'memory --folded') compopt -o filenames; _ascope_offer -f; return ;;
    'memory --top') return ;;
    'cluster --mode') _ascope_offer -W 'all verdicts communication_time communication_matrix communication_group_map cluster_time_summary cluster_time_compare_summary slow_rank slow_link free_analysis communication_bottleneck compute_op_sum hccl_sum cann_api_sum mstx_sum freq_analysis computational_op_masking p2p_pairing pp_chart mstx2commop ep_load_balance module_statistic operator_mfu export_summary communication_time_sum communication_matrix_sum'; return ;;
    'cluster --out' | 'cluster --output_path') compopt -o filenames; _ascope_offer -d; return ;;
    'cluster --export-type' | 'cluster --export_type') _ascope_offer -W 'text db text,db'; return ;;
    'cluster --ranks' | 'cluster --rank_list') return ;;
    'cluster --step' | 'cluster --step_id') return ;;
    'cluster --steps-by') return ;;
    'cluster --top' | 'cluster --top_num') return ;;
    'cluster --base' | 'cluster --bp') compopt -o filenames; _ascope_offer -d; return ;;
    'cluster --rank-id' | 'cluster --rank_id') return ;;
    'cluster --parallel-types' | 'cluster --parallel_types') return ;;
    'cluster --shard') return ;;
    'cluster --manifest') compopt -o filenames; _ascope_offer -f; return ;;
    'cluster --join') compopt -o filenames; _ascope_offer -f; return ;;
    'cluster --shards') compopt -o filenames; _ascope_offer -d; return ;;
    'cluster --launcher') _ascope_offer -W 'local slurm'; return ;;
    'cluster --launcher-args') return ;;
    'cluster --processes') return ;;
    'cluster --threads') return ;;
    'cluster --memory-limit') return ;;
    'view -dir' | 'view --collection-dir') compopt -o filenames; _ascope_offer -d; return ;;
    'view --ranks') return ;;
    'view --step') return ;;
    'view --steps-by') return ;;
    'view --port') return ;;
    'view --host') return ;;
    'view --export') compopt -o filenames; _ascope_offer -f; return ;;
    'view --range') return ;;
    'view --threads') return ;;
    'view --memory-limit') return ;;
    'sql --limit') return ;;
    'sql --columns') compopt -o filenames; _ascope_offer -f; return ;;
    'sql --tables') return ;;
    'sql --steps-by') return ;;
    'sql --threads') return ;;
    'sql --memory-limit') return ;;
    'analyse -dir' | 'analyse --collection-dir') compopt -o filenames; _ascope_offer -d; return ;;
    'analyse --export-type') _ascope_offer -W 'text db text,db'; return ;;
    'analyse --max-process-number') return ;;
    'analyse --steps') return ;;
    'analyse --dialect') _ascope_offer -W 'documented current'; return ;;
    'analyse --time-base') _ascope_offer -W 'epoch start'; return ;;
    'analyse --out') compopt -o filenames; _ascope_offer -d; return ;;
    'analyse --threads') return ;;
    'analyse --memory-limit') return ;;
    'analyse --top') return ;;
    'export -dir' | 'export --collection-dir') compopt -o filenames; _ascope_offer -d; return ;;
    'export -reports') compopt -o filenames; _ascope_offer -f; return ;;
    'export --model-id') return ;;
    'export --iteration-id') return ;;
    'export --iteration-count') return ;;
    'export --format') _ascope_offer -W 'csv json'; return ;;
    'export --max-size') return ;;
    'export --dialect') _ascope_offer -W 'documented current'; return ;;
    'export --time-base') _ascope_offer -W 'epoch start'; return ;;
    'export --out') compopt -o filenames; _ascope_offer -d; return ;;
    'export --threads') return ;;
    'export --memory-limit') return ;;
    'export --top') return ;;
    'export-trace --max-size') return ;;
    'export-trace --dialect') _ascope_offer -W 'documented current'; return ;;
    'export-trace --time-base') _ascope_offer -W 'epoch start'; return ;;
    'export-trace --threads') return ;;
    'export-trace --memory-limit') return ;;
    'export-memory-timeline --device') return ;;
    'export-memory-timeline --threads') return ;;
    'export-memory-timeline --memory-limit') return ;;
    'export-stacks --metric') _ascope_offer -W 'self_cpu_time_total self_npu_time_total'; return ;;
    'export-stacks --threads') return ;;
    'export-stacks --memory-limit') return ;;
    'communication -dir' | 'communication --collection-dir') compopt -o filenames; _ascope_offer -d; return ;;
    'communication --rule') return ;;
    'communication --type') _ascope_offer -W 'text db'; return ;;
    'communication --out') compopt -o filenames; _ascope_offer -d; return ;;
    'communication --threads') return ;;
    'communication --memory-limit') return ;;
    'info -dir' | 'info --collection-dir') compopt -o filenames; _ascope_offer -d; return ;;
    'info --steps-by') return ;;
    'query -dir' | 'query --collection-dir') compopt -o filenames; _ascope_offer -d; return ;;
    'query --threads') return ;;
    'sim --out') compopt -o filenames; _ascope_offer -d; return ;;
    'sim --seed') return ;;
    'sim --noise-seed') return ;;
    'sim --jitter') return ;;
    'sim --kernels') return ;;
    'sim --framework') _ascope_offer -W 'none pt ms'; return ;;
    'sim --generation') _ascope_offer -W 'N S'; return ;;
    'sim --jit') _ascope_offer -W 'off O0 O1 O2'; return ;;
    'sim --operators') return ;;
    'sim --steps') return ;;
    'sim --devices') return ;;
    'sim --ranks' | 'sim --processes') return ;;
    'sim --tp') return ;;
    'sim --pp') return ;;
    'sim --dp') return ;;
    'sim --ranks-per-host') return ;;
    'sim --slow-step') return ;;
    'sim --slow-rank') return ;;
    'sim --slow-operator') return ;;
    'sim --slow-link') return ;;
    'sim --stall') return ;;
    'sim --late-host') return ;;
    'sim --missing-rank') return ;;
    'sim --clock-offset') return ;;
    'sim --chip') _ascope_offer -W 'A2 A3 910 310 310P 310B 950 MDC Tiny MDC-mini'; return ;;
    'sim --mhz') return ;;
    'sim --metrics') _ascope_offer -W 'PipeUtilization ArithmeticUtilization Memory MemoryL0 MemoryUB ResourceConflictRatio L2Cache MemoryAccess PipelineExecuteUtilization'; return ;;
    'sim --slice-kib') return ;;
    'sim --threads') return ;;
    'install-msprof --dialect') _ascope_offer -W 'documented current'; return ;;
    esac
    case $command in
    run)
        words=''
        options=' --out --output --host-sys --device --level --metrics --marks --delay --duration --period --hang-after --pid --attach --interactive --env --storage-limit --acl-json --no-export --monitor --skip-first --skip-first-wait --wait --warmup --active --repeat --csv-safe --gzip --dialect --time-base --threads --memory-limit --top --no-sync --json --quiet -q --verbose -v --help -h'
        what=-c ;;
    dyn)
        words='status start wait stop save'
        options=' --steps --warmup --start-step --ranks --level --stack --shapes --analyse --out --timeout --last --when --json --quiet -q --help -h'
        at=3 ;;
    recover)
        words=''
        options=' -dir --collection-dir --no-sync --json --quiet -q --help -h' ;;
    doctor)
        words=''
        options=' --out --prove --python --json --quiet -q --help -h' ;;
    options)
        words='check'
        options=' --as --chip --json --quiet -q --help -h'
        what=-f ;;
    why)
        words=''
        options=' -dir --collection-dir --step --rank --request --steps-by --top --threads --memory-limit --json --quiet -q --help -h'
        what=-f ;;
    advise)
        words=''
        options=' -dir --collection-dir --html --steps-by --threads --memory-limit --json --quiet -q --help -h' ;;
    compare)
        words=''
        options=' --out -o --csv-safe --steps-by --top --threads --memory-limit --no-sync --json --quiet -q --help -h'
        what=-f ;;
    gate)
        words=''
        options=' --allow --markdown --github --junit --sarif --steps-by --top --threads --memory-limit --no-sync --json --quiet -q --help -h'
        what=-f ;;
    hang)
        words=''
        options=' --json --quiet -q --help -h'
        what=-f ;;
    top)
        words=''
        options=' --once --window --json --quiet -q --help -h'
        what=-f ;;
    sample)
        words=''
        options=' --hz --seconds --top --json --quiet -q --help -h'
        what=-f ;;
    monitor)
        words=''
        options=' --listen --token-file --hook --flight --replay --window --json --quiet -q --help -h'
        what=-f ;;
    memory)
        words=''
        options=' --folded --top --json --quiet -q --help -h'
        what=-f ;;
    cluster)
        words=''
        options=' --mode -m --out --output_path -o --export-type --export_type --csv-safe --ranks --rank_list --step --step_id --steps-by --top --top_num --base --bp --rank-id --rank_id --parallel-types --parallel_types --exclude-op-name --exclude_op_name --rank-databases --shard --manifest --join --shards --launcher --launcher-args --processes --threads --memory-limit --no-sync --json --quiet -q --help -h'
        what=-f ;;
    view)
        words=''
        options=' -dir --collection-dir --ranks --step --steps-by --port --host --no-open --export --range --threads --memory-limit --quiet -q --help -h'
        what=-f ;;
    sql)
        words=''
        options=' --table --csv --csv-safe --json --limit --columns --tables --steps-by --threads --memory-limit --quiet -q --help -h'
        what=-f ;;
    mcp)
        words=''
        options=' --help -h'
        what=-f ;;
    analyse)
        words=''
        options=' -dir --collection-dir --export-type --max-process-number --steps --csv-safe --dialect --time-base --keep-overlaps --pretty --simplify --summary --out --threads --memory-limit --top --no-sync --json --quiet -q --verbose -v --help -h' ;;
    export)
        words='timeline summary db all'
        options=' -dir --collection-dir -reports --model-id --iteration-id --iteration-count --format --csv-safe --max-size --gzip --dialect --time-base --keep-overlaps --out --clear --threads --memory-limit --top --no-sync --json --quiet -q --verbose -v --help -h' ;;
    export-trace)
        words=''
        options=' --max-size --dialect --time-base --keep-overlaps --pretty --threads --memory-limit --no-sync --json --quiet -q --help -h'
        what=-f ;;
    export-memory-timeline)
        words=''
        options=' --device --threads --memory-limit --no-sync --json --quiet -q --help -h'
        what=-f ;;
    export-stacks)
        words=''
        options=' --metric --threads --memory-limit --no-sync --json --quiet -q --help -h'
        what=-f ;;
    communication)
        words=''
        options=' -dir --collection-dir --rule -r --type --out --clear --threads --memory-limit --no-sync --json --quiet -q --verbose -v --help -h' ;;
    info)
        words=''
        options=' -dir --collection-dir --steps-by --json --quiet -q --help -h' ;;
    query)
        words=''
        options=' -dir --collection-dir --threads --json --help -h' ;;
    sim)
        words=''
        options=' --out --seed --noise-seed --jitter --kernels --framework --generation --jit --operators --steps --devices --ranks --processes --tp --pp --dp --ranks-per-host --slow-step --slow-rank --slow-operator --slow-link --stall --late-host --missing-rank --clock-offset --chip --mhz --metrics --slice-kib --comm --kfc --graphs --late --copies --marks --samplers --sample-based --tiling --level0 --threads --json --quiet -q --help -h' ;;
    install-msprof)
        words=''
        options=' --dialect --force --remove --help -h' ;;
    completion)
        words='bash zsh fish'
        options=' --help -h' ;;
    help)
        words='run dyn recover doctor options why advise compare gate hang top sample monitor memory cluster view sql mcp analyse export export-trace export-memory-timeline export-stacks communication info query sim install-msprof completion help'
        options=' --man --recorder-options --help -h' ;;
    *) return ;;
    esac
    if [[ $word == -* ]]; then
        _ascope_offer -W "$options"
    elif ((COMP_CWORD == at)) && [[ $words ]]; then
        _ascope_offer -W "$words"
    else
        compopt -o filenames
        _ascope_offer "$what"
    fi
}
complete -F _ascope ascope
