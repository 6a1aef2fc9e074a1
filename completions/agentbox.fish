# fish completion for agentbox

# The words so far that are not options: "config show" and so on.
function __agentbox_words
    set -l tokens (commandline -opc)
    set -e tokens[1]
    for token in $tokens
        string match -q -- '-*' $token; or echo $token
    end
end

# __agentbox_in run; __agentbox_in config show
function __agentbox_in
    set -l words (__agentbox_words)
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test "$words[$i]" = "$argv[$i]"; or return 1
    end
end

# No further word yet.
function __agentbox_at
    test (count (__agentbox_words)) -eq (count $argv); and __agentbox_in $argv
end

# The words of the command that `run` and the like start, as far as they are
# there. Fails where an option of our own may still stand, or its value is due.
function __agentbox_command
    set -l tokens (commandline -opc)
    set -l takes --command -c --shell --approver --fd --audit --name --on-violation --result --save --profile --config --workspace --write --deny-read --deny-write --home --allow-unix --net --allow --deny --unknown --allow-private --host-port --publish --upstream --secret --env --pass-env --timeout --memory --processes --files --require --fallback
    set -l value 0
    test (count $tokens) -ge 3; or return 1
    for i in (seq 3 (count $tokens))
        if test $value -eq 1
            set value 0
        else if test "$tokens[$i]" = --
            string escape -- $tokens[(math $i + 1)..-1]
            return 0
        else if contains -- $tokens[$i] $takes
            set value 1
        else if not string match -q -- '-*' $tokens[$i]
            string escape -- $tokens[$i..-1]
            return 0
        end
    end
    return 1
end

# __agentbox_running; __agentbox_running run
function __agentbox_running
    set -l commands run exec learn
    test (count $argv) -gt 0; and set commands $argv
    set -l words (__agentbox_words)
    contains -- "$words[1]" $commands; and not __agentbox_command >/dev/null
end

# That command is completed as if it stood alone.
function __agentbox_foreign
    set -l words (__agentbox_command)
    or not string match -q -- '-*' (commandline -ct); or return
    complete --do-complete="$(string join ' ' -- $words (commandline -ct))"
end

function __agentbox_profiles
    agentbox profile list 2>/dev/null | string replace -r '^(\S+)\s+' '$1\t'
end

function __agentbox_runs
    set -l state ~/.local/state/agentbox
    set -q XDG_STATE_HOME; and set state $XDG_STATE_HOME/agentbox
    set -q AGENTBOX_STATE; and set state $AGENTBOX_STATE
    set -l runs $state/live/*
    path basename $runs
end

function __agentbox_any_runs
    set -l state ~/.local/state/agentbox
    set -q XDG_STATE_HOME; and set state $XDG_STATE_HOME/agentbox
    set -q AGENTBOX_STATE; and set state $AGENTBOX_STATE
    set -l runs $state/live/* $state/runs/*
    path basename $runs
end

function __agentbox_approvals
    agentbox approvals list 2>/dev/null | string match -rg '^([as][0-9a-f]{6}) '
end

function __agentbox_groups
    string split ' ' '@github @npm @pypi @crates @go @debian @llm'
end

function __agentbox_secrets
    string split ' ' 'ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN AZURE_OPENAI_API_KEY AZURE_OPENAI_KEY CLAUDE_CODE_OAUTH_TOKEN DEEPSEEK_API_KEY FLIT_PASSWORD GEMINI_API_KEY GH_TOKEN GITHUB_PERSONAL_ACCESS_TOKEN GITHUB_TOKEN GOOGLE_API_KEY GOOGLE_GENERATIVE_AI_API_KEY GROQ_API_KEY HF_TOKEN HUGGINGFACEHUB_API_TOKEN HUGGING_FACE_HUB_TOKEN MISTRAL_API_KEY NODE_AUTH_TOKEN NOUS_API_KEY NPM_TOKEN OPENAI_ADMIN_KEY OPENAI_API_KEY OPENROUTER_API_KEY POETRY_PYPI_TOKEN_PYPI TOGETHERAI_API_KEY TOGETHER_API_KEY TWINE_PASSWORD UV_PUBLISH_TOKEN XAI_API_KEY'
end

# Those, and the secrets of the policy: a name begins a line.
function __agentbox_any_secrets
    __agentbox_secrets
    agentbox secrets list 2>/dev/null | string match -rg '^([A-Za-z_][A-Za-z0-9_]*)(?:     |$)'
end

function __agentbox_properties
    string split ' ' 'user-ns pid-fence net-fence dns-fence write-fence read-deny protected-names ipc-fence ipc-fence-late syscalls no-new-privs limits transparent'
end

complete -c agentbox -f
complete -c agentbox -n __agentbox_at -l help -s h -d 'Show the commands'
complete -c agentbox -n __agentbox_at -l version -d 'Show the version'
complete -c agentbox -n __agentbox_at -a run -d 'Run a command in the box'
complete -c agentbox -n __agentbox_at -a exec -d 'Run a command in the box, print one JSON result'
complete -c agentbox -n __agentbox_at -a learn -d 'Run a command and print the policy it needs'
complete -c agentbox -n __agentbox_at -a check -d 'Say what the policy thinks of a command'
complete -c agentbox -n __agentbox_at -a ps -d 'List the live runs'
complete -c agentbox -n __agentbox_at -a watch -d 'Full-screen live view of a run'
complete -c agentbox -n __agentbox_at -a stop -d 'End a run'
complete -c agentbox -n __agentbox_at -a gc -d 'Remove the records of old runs'
complete -c agentbox -n __agentbox_at -a ports -d 'What listens inside a run'
complete -c agentbox -n __agentbox_at -a log -d 'What a run did, and what it was refused'
complete -c agentbox -n __agentbox_at -a why -d 'Why something was refused, and what would allow it'
complete -c agentbox -n __agentbox_at -a connect -d 'Inside a box: a connection through its door'
complete -c agentbox -n __agentbox_at -a doctor -d 'What this machine can enforce'
complete -c agentbox -n __agentbox_at -a config -d 'See what is in force and where it came from'
complete -c agentbox -n __agentbox_at -a profile -d 'See the profiles that a policy can start from'
complete -c agentbox -n __agentbox_at -a rules -d 'See the rules that commands are judged by'
complete -c agentbox -n __agentbox_at -a policy -d 'Compare policies'
complete -c agentbox -n __agentbox_at -a secrets -d 'Keys that the box can use and never sees'
complete -c agentbox -n __agentbox_at -a trust -d 'Let a project\'s .agentbox.json widen the policy'
complete -c agentbox -n __agentbox_at -a approvals -d 'What you have said yes or no to'
complete -c agentbox -n __agentbox_at -a allow -d 'Let one host or path through'
complete -c agentbox -n __agentbox_at -a deny -d 'Stop letting a host through'
complete -c agentbox -n __agentbox_at -a hook -d 'Answer an agent that is about to run a command'
complete -c agentbox -n __agentbox_at -a alias -d 'Print shell functions that run programs in the box'
complete -c agentbox -n __agentbox_at -a help -d 'Say more about a command'
complete -c agentbox -n '__agentbox_at help' -a 'run exec learn check ps watch stop allow deny ports log why gc connect doctor config profile rules policy secrets trust approvals hook alias'

complete -c agentbox -n '__agentbox_at config' -a show -d 'Every value in force and where it came from'
complete -c agentbox -n '__agentbox_at config' -a check -d 'Mistakes in a file'
complete -c agentbox -n '__agentbox_at config' -a path -d 'The files that a run looks at'
complete -c agentbox -n '__agentbox_at config' -a reload -d 'Have runs read their settings again'
complete -c agentbox -n '__agentbox_at profile' -a list -d 'The profiles'
complete -c agentbox -n '__agentbox_at profile' -a show -d 'What a profile means here'
complete -c agentbox -n '__agentbox_at rules' -a list -d 'The rules in force here'
complete -c agentbox -n '__agentbox_at approvals' -a list -d 'The answers that are remembered'
complete -c agentbox -n '__agentbox_at approvals' -a revoke -d 'Forget answers'
complete -c agentbox -n '__agentbox_at hook' -a install -d 'Put the hook into an agent\'s settings'
complete -c agentbox -n '__agentbox_at hook' -a 'claude-code codex copilot cursor gemini windsurf' -d 'Answer an event'
complete -c agentbox -n '__agentbox_at secrets' -a list -d 'What would be put in where'
complete -c agentbox -n '__agentbox_at secrets' -a providers -d 'Services that are known by name'
complete -c agentbox -n '__agentbox_at secrets' -a check -d 'Does every source give a value'
complete -c agentbox -n '__agentbox_at policy' -a diff -d 'What one allows that the other does not'

for in in __agentbox_running '__agentbox_in check' '__agentbox_in ps' '__agentbox_in watch' '__agentbox_in stop' '__agentbox_in ports' '__agentbox_in gc' '__agentbox_in connect' '__agentbox_in doctor' '__agentbox_in config' '__agentbox_in profile' '__agentbox_in rules' '__agentbox_in policy' '__agentbox_in secrets' '__agentbox_in trust' '__agentbox_in approvals' '__agentbox_in allow' '__agentbox_in deny' '__agentbox_in hook' '__agentbox_in alias' '__agentbox_in log' '__agentbox_in why'
    complete -c agentbox -n $in -l help -s h -d 'Show the options'
end

function __agentbox_hook
    __agentbox_in hook; and test (count (__agentbox_words)) -ge 2
end

# What makes the policy: run, check, config show, secrets and the hooks.
for in in __agentbox_running '__agentbox_in check' '__agentbox_in config show' '__agentbox_in secrets list' '__agentbox_in secrets check' __agentbox_hook
    complete -c agentbox -n $in -l profile -x -a '(__agentbox_profiles)' -d 'Start from this profile'
    complete -c agentbox -n $in -l config -r -F -d 'Read this file instead of the user\'s'
    complete -c agentbox -n $in -l workspace -x -a '(__fish_complete_directories)' -d 'The project folder'
    complete -c agentbox -n $in -l write -r -F -d 'Let the command write here too'
    complete -c agentbox -n $in -l read-only -d 'No writable folder but the private ones'
    complete -c agentbox -n $in -l deny-read -r -F -d 'Hide this path or pattern'
    complete -c agentbox -n $in -l deny-write -r -F -d 'Protect this path, or this name'
    complete -c agentbox -n $in -l home -x -a 'readonly private' -d 'The home folder'
    complete -c agentbox -n $in -l allow-unix -r -F -d 'Keep this socket of the host reachable'
    complete -c agentbox -n $in -l net -x -a 'blocked filtered allowed' -d 'Network mode'
    complete -c agentbox -n $in -l allow -x -a '(__agentbox_groups)' -d 'A host that may be reached when filtered'
    complete -c agentbox -n $in -l deny -x -a '(__agentbox_groups)' -d 'A host that may not'
    complete -c agentbox -n $in -l unknown -x -a 'ask deny' -d 'What happens to other hosts'
    complete -c agentbox -n $in -l allow-private -x -d 'Private addresses that are not refused'
    complete -c agentbox -n $in -l host-port -x -d 'Reach this port of the host at localhost'
    complete -c agentbox -n $in -l publish -x -d 'Let the host reach this port of the box'
    complete -c agentbox -n $in -l upstream -x -a 'none env http://' -d 'The proxy that the way out goes through'
    complete -c agentbox -n $in -l secret -x -a '(__agentbox_secrets)' -d 'Show a placeholder inside, send the value'
    complete -c agentbox -n $in -l env -x -d 'Set a variable inside'
    complete -c agentbox -n $in -l pass-env -x -a '(set --export --names)' -d 'Keep a variable that would be stripped'
    complete -c agentbox -n $in -l timeout -x -d 'End the command after this time'
    complete -c agentbox -n $in -l memory -x -d 'Limit memory'
    complete -c agentbox -n $in -l processes -x -d 'Limit the number of processes'
    complete -c agentbox -n $in -l files -x -d 'Limit open files of one process'
    complete -c agentbox -n $in -l require -x -a '(__fish_append , (__agentbox_properties))' -d 'Do not start unless this holds'
    complete -c agentbox -n $in -l fallback -x -a 'strict warn' -d 'When something required does not hold'
end

complete -c agentbox -n __agentbox_running -l command -s c -x -d 'Run this text with a shell'
complete -c agentbox -n __agentbox_running -l shell -r -F -d 'The shell for -c'
complete -c agentbox -n __agentbox_running -l yes -d 'Accept what a person would be asked about'
complete -c agentbox -n __agentbox_running -l approver -x -a '(__fish_complete_command)' -d 'Ask this program instead of a person'
complete -c agentbox -n __agentbox_running -l on-violation -x -a '(__fish_complete_command)' -d 'Run this for each thing that is refused'
complete -c agentbox -n __agentbox_running -l require-covered -d 'Not with credentials that no secret covers'
complete -c agentbox -n __agentbox_running -l fd -x -d 'Keep this descriptor open inside'
complete -c agentbox -n __agentbox_running -l name -x -d 'A name for the run, besides its id'
complete -c agentbox -n __agentbox_running -l audit -r -F -d 'Write the record of the run here too'
complete -c agentbox -n __agentbox_running -l trace-denials -d 'Also record refused files and calls'
complete -c agentbox -n __agentbox_running -l verbose -s v -d 'Say what holds; twice: what each step took'
complete -c agentbox -n __agentbox_running -l quiet -s q -d 'Say nothing but errors'
complete -c agentbox -n '__agentbox_running run' -l result -r -F -d 'Write the result of the run here, as JSON'
complete -c agentbox -n '__agentbox_running exec' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_running learn' -l save -x -d 'Save what was learned as a profile'
for in in run exec learn
    complete -c agentbox -n "__agentbox_in $in" -a '(__agentbox_foreign)'
end

complete -c agentbox -n '__agentbox_in check' -l command -s c -x -d 'Judge this text'
complete -c agentbox -n '__agentbox_in check' -l stdin -d 'Judge all of standard input, as one script'
complete -c agentbox -n '__agentbox_in check' -l batch -d 'Judge each line of standard input'
complete -c agentbox -n '__agentbox_in check' -l null -s 0 -d 'With --batch: NUL ends a command'
complete -c agentbox -n '__agentbox_in check' -l json -d 'Print one line of JSON'
complete -c agentbox -n '__agentbox_in check' -l explain -d 'Show every command in it and its decision'

complete -c agentbox -n '__agentbox_in ps' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in watch' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_in stop' -l all -d 'Every live run'
complete -c agentbox -n '__agentbox_in stop' -l grace -x -d 'Time between TERM and KILL'
complete -c agentbox -n '__agentbox_in stop' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_in gc' -l older -x -d 'Remove runs that ended longer ago'
complete -c agentbox -n '__agentbox_in gc' -l keep -x -d 'Keep this many of the newest'
complete -c agentbox -n '__agentbox_in gc' -l quarantine -d 'Also runs whose quarantine holds files'
complete -c agentbox -n '__agentbox_in gc' -l dry-run -d 'Only say what would be removed'
complete -c agentbox -n '__agentbox_in gc' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in ports' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in ports' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_in log' -l follow -s f -d 'Go on until the run ends'
complete -c agentbox -n '__agentbox_in log' -l all -d 'Every run, oldest first'
complete -c agentbox -n '__agentbox_in log' -l denied -d 'Only what was refused'
complete -c agentbox -n '__agentbox_in log' -l allowed -d 'Only what was let through'
complete -c agentbox -n '__agentbox_in log' -l host -x -d 'Only this host'
complete -c agentbox -n '__agentbox_in log' -l since -x -d 'Not before this time'
complete -c agentbox -n '__agentbox_in log' -l until -x -d 'Before this time'
complete -c agentbox -n '__agentbox_in log' -l json -d 'Records as they are'
complete -c agentbox -n '__agentbox_in log' -l stats -d 'Hosts, bytes and denials in a table'
complete -c agentbox -n '__agentbox_in log' -l html -r -F -d 'Write a page about the run'
complete -c agentbox -n '__agentbox_in log' -a '(__agentbox_any_runs)'
complete -c agentbox -n '__agentbox_in why' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in why' -a 'last (__agentbox_any_runs)'
complete -c agentbox -n '__agentbox_in connect' -a '(__fish_print_hostnames)'

complete -c agentbox -n '__agentbox_in doctor' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in doctor' -l fix -d 'Print the AppArmor profile for this program'
complete -c agentbox -n '__agentbox_in doctor' -l attack -d 'Attack the box from inside'

complete -c agentbox -n '__agentbox_in config show' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in config path' -l json -d 'Print JSON'
for in in '__agentbox_in config check' '__agentbox_in config path'
    complete -c agentbox -n $in -l config -r -F -d 'This file instead of the user\'s'
    complete -c agentbox -n $in -l workspace -x -a '(__fish_complete_directories)' -d 'The project folder'
end
complete -c agentbox -n '__agentbox_in config check' -F

complete -c agentbox -n '__agentbox_in profile list' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in profile show' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in profile show' -F -a '(__agentbox_profiles)'
complete -c agentbox -n '__agentbox_in rules list' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in rules list' -l profile -x -a '(__agentbox_profiles)' -d 'Start from this profile'
complete -c agentbox -n '__agentbox_in rules list' -l config -r -F -d 'This file instead of the user\'s'
complete -c agentbox -n '__agentbox_in rules list' -l workspace -x -a '(__fish_complete_directories)' -d 'The project folder'
complete -c agentbox -n '__agentbox_in policy diff' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in policy diff' -F -a '(__agentbox_profiles)'

complete -c agentbox -n '__agentbox_in secrets list' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in secrets providers' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in secrets check' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in secrets check' -a '(__agentbox_any_secrets)'

complete -c agentbox -n '__agentbox_in trust' -l yes -s y -d 'Trust it without asking'
complete -c agentbox -n '__agentbox_in trust' -l revoke -d 'Trust it no longer'
complete -c agentbox -n '__agentbox_in trust' -F

complete -c agentbox -n __agentbox_hook -l no-box -d 'Judge only, do not rewrite'
complete -c agentbox -n __agentbox_hook -l approver -x -a '(__fish_complete_command)' -d 'Ask this program first'
complete -c agentbox -n '__agentbox_in hook install' -l project -d 'In the settings of this project'
complete -c agentbox -n '__agentbox_in hook install' -l yes -s y -d 'Write without asking'
complete -c agentbox -n '__agentbox_at hook install' -a 'claude-code codex cursor gemini windsurf'
complete -c agentbox -n '__agentbox_in alias' -l fish -d 'For fish'
complete -c agentbox -n '__agentbox_in alias' -a '(__fish_complete_command)'
for in in '__agentbox_in allow' '__agentbox_in deny'
    complete -c agentbox -n $in -l run -x -a '(__agentbox_runs)' -d 'The run to change'
    complete -c agentbox -n $in -l always -d 'In every run: write it into your settings'
    complete -c agentbox -n $in -l for -x -d 'Only for this long'
    complete -c agentbox -n $in -l json -d 'Print JSON'
end
complete -c agentbox -n '__agentbox_in allow' -F
complete -c agentbox -n '__agentbox_in config reload' -l cut -d 'Close connections to what is denied by now'
complete -c agentbox -n '__agentbox_in config reload' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_in approvals list' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in approvals revoke' -l all -d 'All that are remembered'
complete -c agentbox -n '__agentbox_in approvals revoke' -l session -d 'All of this session'
complete -c agentbox -n '__agentbox_in approvals revoke' -a '(__agentbox_approvals)'
