# bash completion for ascope; made from the option tables by: ascope completion bash
_ascope_offer()
{
    mapfile -t COMPREPLY < <(compgen "$@" -- "${COMP_WORDS[COMP_CWORD]}")
}

_ascope()
{
    local word=${COMP_WORDS[COMP_CWORD]} words options what=-d at=2
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _ascope_offer -W 'run dyn export analyse export-trace export-memory-timeline export-stacks info recover query communication sim install-msprof doctor options completion help --version --help'
        return
    fi
    case ${COMP_WORDS[COMP_CWORD - 1]} in
    --out | --output) compopt -o filenames; _ascope_offer -d; return ;;
    --host-sys) _ascope_offer -W 'none cpu mem disk network osrt numa'; return ;;
    --device) _ascope_offer -W 'auto none ascend sim'; return ;;
    --level) _ascope_offer -W 'off 0 1 2 3'; return ;;
    --metrics) return ;;
    --delay) return ;;
    --duration) return ;;
    --period) return ;;
    --pid | --attach) return ;;
    --env) return ;;
    --storage-limit) return ;;
    --acl-json) compopt -o filenames; _ascope_offer -f; return ;;
    --dialect) _ascope_offer -W 'documented current'; return ;;
    --time-base) _ascope_offer -W 'epoch start'; return ;;
    --threads) return ;;
    --memory-limit) return ;;
    --top) return ;;
    --steps) return ;;
    --warmup) return ;;
    --start-step) return ;;
    --ranks) return ;;
    --level) _ascope_offer -W 'Level0 Level1 Level2 Level_none'; return ;;
    --out) compopt -o filenames; _ascope_offer -d; return ;;
    --timeout) return ;;
    --last) return ;;
    --when) return ;;
    -dir | --collection-dir) compopt -o filenames; _ascope_offer -d; return ;;
    -reports) compopt -o filenames; _ascope_offer -f; return ;;
    --model-id) return ;;
    --iteration-id) return ;;
    --iteration-count) return ;;
    --format) _ascope_offer -W 'csv json'; return ;;
    --max-size) return ;;
    --out) compopt -o filenames; _ascope_offer -d; return ;;
    --export-type) _ascope_offer -W 'text db text,db'; return ;;
    --max-process-number) return ;;
    --steps) return ;;
    --device) return ;;
    --metric) _ascope_offer -W 'self_cpu_time_total self_npu_time_total'; return ;;
    --rule) return ;;
    --type) _ascope_offer -W 'text db'; return ;;
    --out) compopt -o filenames; _ascope_offer -d; return ;;
    --seed) return ;;
    --kernels) return ;;
    --framework) _ascope_offer -W 'none pt ms'; return ;;
    --generation) _ascope_offer -W 'N S'; return ;;
    --jit) _ascope_offer -W 'off O0 O1 O2'; return ;;
    --operators) return ;;
    --steps) return ;;
    --devices) return ;;
    --ranks | --processes) return ;;
    --tp) return ;;
    --pp) return ;;
    --dp) return ;;
    --ranks-per-host) return ;;
    --slow-step) return ;;
    --slow-rank) return ;;
    --slow-link) return ;;
    --stall) return ;;
    --missing-rank) return ;;
    --clock-offset) return ;;
    --chip) _ascope_offer -W 'A2 A3 910 310 310P 310B 950 MDC Tiny MDC-mini'; return ;;
    --mhz) return ;;
    --metrics) _ascope_offer -W 'PipeUtilization ArithmeticUtilization Memory MemoryL0 MemoryUB ResourceConflictRatio L2Cache MemoryAccess PipelineExecuteUtilization'; return ;;
    --slice-kib) return ;;
    --dialect) _ascope_offer -W 'documented current'; return ;;
    --out) compopt -o filenames; _ascope_offer -d; return ;;
    --python) compopt -o filenames; _ascope_offer -f; return ;;
    --as) _ascope_offer -W 'profiling_options acl.json'; return ;;
    --chip) _ascope_offer -W 'A2 A3 910 310 310P 310B 950 MDC Tiny MDC-mini'; return ;;
    esac
    case ${COMP_WORDS[1]} in
    run)
        words=''
        options=' --out --output --host-sys --device --level --metrics --marks --delay --duration --period --pid --attach --interactive --env --storage-limit --acl-json --no-export --csv-safe --gzip --dialect --time-base --threads --memory-limit --top --json --quiet -q --verbose -v --help -h'
        what=-c ;;
    dyn)
        words='status start wait stop save'
        options=' --steps --warmup --start-step --ranks --level --stack --shapes --analyse --out --timeout --last --when --json --quiet -q --help -h'
        at=3 ;;
    export)
        words='timeline summary db all'
        options=' -dir --collection-dir -reports --model-id --iteration-id --iteration-count --format --csv-safe --max-size --gzip --dialect --time-base --out --clear --threads --memory-limit --top --json --quiet -q --verbose -v --help -h' ;;
    analyse)
        words=''
        options=' -dir --collection-dir --export-type --max-process-number --steps --csv-safe --dialect --time-base --pretty --simplify --out --threads --memory-limit --top --json --quiet -q --verbose -v --help -h' ;;
    export-trace)
        words=''
        options=' --max-size --dialect --time-base --pretty --threads --memory-limit --json --quiet -q --help -h' ;;
    export-memory-timeline)
        words=''
        options=' --device --threads --memory-limit --json --quiet -q --help -h' ;;
    export-stacks)
        words=''
        options=' --metric --threads --memory-limit --json --quiet -q --help -h' ;;
    info)
        words=''
        options=' -dir --collection-dir --json --quiet -q --help -h' ;;
    recover)
        words=''
        options=' -dir --collection-dir --json --quiet -q --help -h' ;;
    query)
        words=''
        options=' -dir --collection-dir --threads --json --help -h' ;;
    communication)
        words=''
        options=' -dir --collection-dir --rule -r --type --out --clear --threads --memory-limit --json --quiet -q --verbose -v --help -h' ;;
    sim)
        words=''
        options=' --out --seed --kernels --framework --generation --jit --operators --steps --devices --ranks --processes --tp --pp --dp --ranks-per-host --slow-step --slow-rank --slow-link --stall --missing-rank --clock-offset --chip --mhz --metrics --slice-kib --comm --kfc --graphs --late --copies --marks --samplers --sample-based --tiling --level0 --threads --json --help -h' ;;
    install-msprof)
        words=''
        options=' --dialect --force --remove --help -h' ;;
    doctor)
        words=''
        options=' --out --python --json --quiet -q --help -h' ;;
    options)
        words='check'
        options=' --as --chip --json --quiet -q --help -h' ;;
    completion)
        words='bash zsh'
        options=' --help -h' ;;
    help)
        words='run dyn export analyse export-trace export-memory-timeline export-stacks info recover query communication sim install-msprof doctor options completion help'
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
