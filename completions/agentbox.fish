# fish completion for agentbox

# The arguments so far that are not options, such as "config show".
function __agentbox_words
    set -l tokens (commandline -opc)
    set -e tokens[1]
    set -q tokens[1]; and string match -v -- '-*' $tokens
end

# __agentbox_in run; __agentbox_in config show
function __agentbox_in
    set -l words (__agentbox_words)
    set -l last (count $argv)
    test $last -eq 0; and return
    test (count $words) -ge $last; and test "$words[1..$last]" = "$argv"
end

# True if no argument follows yet.
function __agentbox_at
    test (count (__agentbox_words)) -eq (count $argv); and __agentbox_in $argv
end

# The arguments of the command that `run`, `exec` or `learn` starts, as typed so
# far. Fails if one of our own options or its value may still follow.
function __agentbox_command
    set -l tokens (commandline -opc)
    set -l takes --command -c --shell --cwd --approver --fd --audit --name --on-violation --result --idle --in --save --profile --config --workspace --with --write --read --deny-read --deny-write --home --allow-unix --net --allow --deny --unknown --allow-private --host-port --publish --upstream --secret --ssh --env --pass-env --timeout --memory --processes --files --require --fallback --engine --terminal
    set -l value 0
    test (count $tokens) -ge 3; or return 1
    set -l rest $tokens[3..-1]
    while set -q rest[1]
        if test $value -eq 1
            set value 0
        else if test "$rest[1]" = --
            string escape -- $rest[2..-1]
            return 0
        else if contains -- $rest[1] $takes
            set value 1
        else if not string match -q -- '-*' $rest[1]
            string escape -- $rest
            return 0
        end
        set -e rest[1]
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

# Complete that command as if it was typed alone.
function __agentbox_foreign
    set -l words (__agentbox_command)
    or not string match -q -- '-*' (commandline -ct); or return
    complete --do-complete="$(string join ' ' -- $words (commandline -ct))"
end

# Run the installed program: never a file of the current folder, which may be hostile.
function __agentbox_ask
    set -l program (command -s agentbox); or return
    string match -q -- '/*' $program[1]; or return
    test (path resolve -- (path dirname -- $program[1])) != (pwd -P); or return
    $program[1] $argv 2>/dev/null
end

function __agentbox_profiles
    __agentbox_ask profile list | string replace -r '^(\S+)\s+' '$1\t'
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

function __agentbox_layers
    set -l state ~/.local/state/agentbox
    set -q XDG_STATE_HOME; and set state $XDG_STATE_HOME/agentbox
    set -q AGENTBOX_STATE; and set state $AGENTBOX_STATE
    set -l names $state/layers/*
    path basename $names
end

function __agentbox_approvals
    __agentbox_ask approvals list | string match -rg '^([as][0-9a-f]{6}) '
end

function __agentbox_quarantined
    __agentbox_ask quarantine list | string match -rg '^([a-z0-9]{5}-q[0-9]+) '
end

function __agentbox_groups
    string join \n -- '@github	GitHub' '@npm	the npm registry' '@pypi	the Python registry' '@crates	the Rust registry' '@go	the Go module proxy' '@maven	Maven repositories' '@rubygems	the Ruby registry' '@packagist	the PHP registry' '@nuget	the .NET registry' '@hex	the Erlang and Elixir registry' '@debian	Debian packages' '@llm	services of language models'
end

# The ids of what the last run was denied, with the host or the reason.
function __agentbox_denials
    __agentbox_ask log --denied | string match -rg '^\S+ \S+  denied +(.*)  ([a-z0-9]{5}-[a-z]?[0-9]+)$' | while read -l what
        read -l id
        echo $id\t$what
    end
end

function __agentbox_denied_hosts
    __agentbox_ask log --denied --json | string match -rg '"domain":"([^"]+)"' | sort -u
end

function __agentbox_secrets
    string split ' ' 'ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN AZURE_OPENAI_API_KEY AZURE_OPENAI_KEY CLAUDE_CODE_OAUTH_TOKEN CODEX_API_KEY COPILOT_GITHUB_TOKEN DASHSCOPE_API_KEY DEEPSEEK_API_KEY FLIT_PASSWORD GEMINI_API_KEY GH_TOKEN GITHUB_PERSONAL_ACCESS_TOKEN GITHUB_TOKEN GOOGLE_API_KEY GOOGLE_GENERATIVE_AI_API_KEY GROQ_API_KEY HF_TOKEN HUGGINGFACEHUB_API_TOKEN HUGGING_FACE_HUB_TOKEN MISTRAL_API_KEY NODE_AUTH_TOKEN NOUS_API_KEY NPM_TOKEN OPENAI_ADMIN_KEY OPENAI_API_KEY OPENCODE_API_KEY OPENROUTER_API_KEY POETRY_PYPI_TOKEN_PYPI TOGETHERAI_API_KEY TOGETHER_API_KEY TWINE_PASSWORD UV_PUBLISH_TOKEN XAI_API_KEY'
end

function __agentbox_keys
    __agentbox_ask config show --all --workspace / | string match -r '^[a-z]+(?:\.[a-zA-Z]+)?'
end

# These, and the secrets of the policy: each line begins with a name.
function __agentbox_any_secrets
    __agentbox_secrets
    __agentbox_ask secrets list | string match -rg '^([A-Za-z_][A-Za-z0-9_]*)(?:     |$)'
end

function __agentbox_presets
    string split ' ' 'auto bitbucket codeberg dart deno dotnet elixir github gitlab go java node php python ruby rust'
end

function __agentbox_properties
    string split ' ' 'user-ns pid-fence pid-view net-fence dns-fence write-fence read-deny protected-names ipc-fence ipc-fence-late syscalls no-new-privs limits transparent'
end

complete -c agentbox -f
complete -c agentbox -n __agentbox_at -l help -s h -d 'Show the commands'
complete -c agentbox -n __agentbox_at -l version -s V -d 'Show the version'
complete -c agentbox -n __agentbox_at -l color -x -a 'auto always never' -d 'When to use colours'
complete -c agentbox -n __agentbox_at -a run -d 'Run a command in the box'
complete -c agentbox -n __agentbox_at -a shell -d 'Open a shell in a box'
complete -c agentbox -n __agentbox_at -a attach -d 'Connect to a command that runs in the background'
complete -c agentbox -n __agentbox_at -a exec -d 'Run a command in the box and print one JSON result'
complete -c agentbox -n __agentbox_at -a learn -d 'Run a command and print the policy it needs'
complete -c agentbox -n __agentbox_at -a check -d 'Judge a command without running it'
complete -c agentbox -n __agentbox_at -a ps -d 'List the active runs'
complete -c agentbox -n __agentbox_at -a watch -d 'Show a run live, full screen'
complete -c agentbox -n __agentbox_at -a stop -d 'End a run'
complete -c agentbox -n __agentbox_at -a layers -d 'List, remove and refresh kept layers'
complete -c agentbox -n __agentbox_at -a quarantine -d 'List, show and restore files in quarantine'
complete -c agentbox -n __agentbox_at -a gc -d 'Remove the records of old runs, and old layers'
complete -c agentbox -n __agentbox_at -a ports -d 'List the ports that programs in a run listen on'
complete -c agentbox -n __agentbox_at -a publish -d 'Make a port of an active run reachable from the host'
complete -c agentbox -n __agentbox_at -a log -d 'Show what a run did, and what was denied'
complete -c agentbox -n __agentbox_at -a diff -d 'Show what a layer would change'
complete -c agentbox -n __agentbox_at -a why -d 'Explain why something is denied, and what would allow it'
complete -c agentbox -n __agentbox_at -a connect -d 'From inside a box: connect to a host through the filter'
complete -c agentbox -n __agentbox_at -a init -d 'Set up a project: detect what it needs, write .agentbox.json'
complete -c agentbox -n __agentbox_at -a import -d 'Read settings of srt, Claude Code, Codex or nono'
complete -c agentbox -n __agentbox_at -a doctor -d 'Show what this machine can enforce'
complete -c agentbox -n __agentbox_at -a config -d 'Show and change settings'
complete -c agentbox -n __agentbox_at -a profile -d 'List and show the profiles a policy can start from'
complete -c agentbox -n __agentbox_at -a rules -d 'List the rules that commands are judged by'
complete -c agentbox -n __agentbox_at -a policy -d 'Explain, compare and test policies'
complete -c agentbox -n __agentbox_at -a secrets -d 'Use API keys without exposing them to the box'
complete -c agentbox -n __agentbox_at -a trust -d 'Let a project\'s .agentbox.json widen the policy'
complete -c agentbox -n __agentbox_at -a approvals -d 'List and revoke remembered approvals'
complete -c agentbox -n __agentbox_at -a allow -d 'Allow a host or a path'
complete -c agentbox -n __agentbox_at -a deny -d 'Deny a host from now on'
complete -c agentbox -n __agentbox_at -a apply -d 'Take changes of a layer over'
complete -c agentbox -n __agentbox_at -a discard -d 'Drop changes of a layer'
complete -c agentbox -n __agentbox_at -a undo -d 'Take the last apply back'
complete -c agentbox -n __agentbox_at -a hook -d 'Judge a command that an agent is about to run'
complete -c agentbox -n __agentbox_at -a mcp -d 'Let any agent use the box over the Model Context Protocol'
complete -c agentbox -n __agentbox_at -a serve -d 'Run commands in boxes for another program'
complete -c agentbox -n __agentbox_at -a alias -d 'Print shell functions that run programs in the box'
complete -c agentbox -n __agentbox_at -a completion -d 'Print what makes a shell complete agentbox'
complete -c agentbox -n __agentbox_at -a help -d 'Show the help or the manual page of a command'
complete -c agentbox -n __agentbox_at -a version -d 'Show the version and the build'
complete -c agentbox -n '__agentbox_in help' -l man -d 'Print the page of the manual'
complete -c agentbox -n '__agentbox_in version' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_at completion' -a 'bash zsh fish'
complete -c agentbox -n '__agentbox_at help' -a 'run shell attach exec learn check ps watch stop allow deny apply discard undo ports publish log diff why layers quarantine gc connect init import doctor config profile rules policy secrets trust approvals hook mcp serve alias completion help version agentbox agentbox.json'

complete -c agentbox -n '__agentbox_at config' -a show -d 'Show the settings in force here, and their origins'
complete -c agentbox -n '__agentbox_at config' -a get -d 'Print one value in force here'
complete -c agentbox -n '__agentbox_at config' -a set -d 'Set a value in a settings file'
complete -c agentbox -n '__agentbox_at config' -a unset -d 'Remove a value from a settings file'
complete -c agentbox -n '__agentbox_at config' -a edit -d 'Edit a settings file; save it only if it is right'
complete -c agentbox -n '__agentbox_at config' -a schema -d 'Print the JSON Schema of settings files'
complete -c agentbox -n '__agentbox_at config' -a check -d 'Find mistakes in settings files'
complete -c agentbox -n '__agentbox_at config' -a path -d 'List the files that a run reads'
complete -c agentbox -n '__agentbox_at config' -a reload -d 'Make running boxes reload their settings'
complete -c agentbox -n '__agentbox_at profile' -a list -d 'List the profiles'
complete -c agentbox -n '__agentbox_at profile' -a presets -d 'List the presets of --with'
complete -c agentbox -n '__agentbox_at profile' -a show -d 'Show what a profile sets here'
complete -c agentbox -n '__agentbox_at rules' -a list -d 'List the rules in force here'
complete -c agentbox -n '__agentbox_at approvals' -a list -d 'List the remembered answers'
complete -c agentbox -n '__agentbox_at approvals' -a revoke -d 'Forget answers'
complete -c agentbox -n '__agentbox_at layers' -a list -d 'List the kept layers'
complete -c agentbox -n '__agentbox_at layers' -a rm -d 'Remove layers'
complete -c agentbox -n '__agentbox_at layers' -a refresh -d 'Replace old copies by the host\'s files'
complete -c agentbox -n '__agentbox_at quarantine' -a list -d 'List the files in quarantine'
complete -c agentbox -n '__agentbox_at quarantine' -a show -d 'Show a file in quarantine'
complete -c agentbox -n '__agentbox_at quarantine' -a restore -d 'Put files back'
complete -c agentbox -n '__agentbox_at quarantine' -a scan -d 'Search the workspace of a run again'
complete -c agentbox -n '__agentbox_at mcp' -a serve -d 'Serve the tools run, check, why and log'
complete -c agentbox -n '__agentbox_at mcp' -a wrap -d 'Make MCP servers run in boxes'
complete -c agentbox -n '__agentbox_at hook' -a install -d 'Add the hook to an agent\'s settings'
complete -c agentbox -n '__agentbox_at hook' -a uninstall -d 'Remove the hook from an agent\'s settings'
complete -c agentbox -n '__agentbox_at hook' -a list -d 'Show which agents have the hook'
complete -c agentbox -n '__agentbox_at hook' -a status -d 'Test the installed hooks'
complete -c agentbox -n '__agentbox_at hook' -a 'claude-code codex copilot cursor gemini windsurf' -d 'Reply to an event'
complete -c agentbox -n '__agentbox_at secrets' -a list -d 'Show which secrets a run would inject'
complete -c agentbox -n '__agentbox_at secrets' -a providers -d 'List the services whose variables are known'
complete -c agentbox -n '__agentbox_at secrets' -a check -d 'Check that every source gives a usable value'
complete -c agentbox -n '__agentbox_at secrets' -a rotate -d 'Replace the placeholders of secrets by new ones'
complete -c agentbox -n '__agentbox_at policy' -a test -d 'Check that the policy here answers as a file expects'
complete -c agentbox -n '__agentbox_at policy' -a explain -d 'Show what a run here would be allowed to do'
complete -c agentbox -n '__agentbox_at policy' -a diff -d 'Show what one allows and the other does not'

for in in __agentbox_running '__agentbox_in shell' '__agentbox_in attach' '__agentbox_in check' '__agentbox_in ps' '__agentbox_in watch' '__agentbox_in stop' '__agentbox_in ports' '__agentbox_in publish' '__agentbox_in layers' '__agentbox_in quarantine' '__agentbox_in gc' '__agentbox_in connect' '__agentbox_in init' '__agentbox_in import' '__agentbox_in doctor' '__agentbox_in config' '__agentbox_in profile' '__agentbox_in rules' '__agentbox_in policy' '__agentbox_in secrets' '__agentbox_in trust' '__agentbox_in approvals' '__agentbox_in allow' '__agentbox_in deny' '__agentbox_in apply' '__agentbox_in discard' '__agentbox_in undo' '__agentbox_in hook' '__agentbox_in mcp' '__agentbox_in serve' '__agentbox_in alias' '__agentbox_in completion' '__agentbox_in help' '__agentbox_in version' '__agentbox_in log' '__agentbox_in diff' '__agentbox_in why'
    complete -c agentbox -n $in -l help -s h -d 'Show the options'
end

function __agentbox_hook
    __agentbox_in hook; and test (count (__agentbox_words)) -ge 2
    and not __agentbox_in hook uninstall; and not __agentbox_in hook list; and not __agentbox_in hook status
end

# Policy options: run, check, config show, policy explain, secrets and the hooks.
for in in __agentbox_running '__agentbox_in shell' '__agentbox_in check' '__agentbox_in config show' '__agentbox_in config get' '__agentbox_in policy explain' '__agentbox_in secrets list' '__agentbox_in secrets check' '__agentbox_in secrets rotate' '__agentbox_in mcp serve' '__agentbox_in mcp wrap' __agentbox_hook
    complete -c agentbox -n $in -l profile -x -a '(__agentbox_profiles)' -d 'Start from this profile'
    complete -c agentbox -n $in -l config -r -F -d 'Read this file instead of your settings'
    complete -c agentbox -n $in -l workspace -x -a '(__fish_complete_directories)' -d 'Project folder'
    complete -c agentbox -n $in -l with -x -a '(__fish_append , (__agentbox_presets))' -d 'Allow what a language\'s tools need'
    complete -c agentbox -n $in -l write -r -F -d 'Also make this path writable'
    complete -c agentbox -n $in -l read-only -d 'Nothing is writable except private folders'
    complete -c agentbox -n $in -l read -r -F -d 'Show this path, which is hidden by default'
    complete -c agentbox -n $in -l deny-read -r -F -d 'Hide this path or pattern'
    complete -c agentbox -n $in -l deny-write -r -F -d 'Protect this path or file name'
    complete -c agentbox -n $in -l home -x -a 'layered kept readonly private' -d 'Where writes in your home folder go'
    complete -c agentbox -n $in -l review -f -d 'Keep changes apart until you apply them'
    complete -c agentbox -n $in -l allow-unix -r -F -d 'Keep this host socket reachable'
    complete -c agentbox -n $in -l docker -x -d 'Let it start containers of this image'
    complete -c agentbox -n $in -l allow-userns -f -d 'Let the own sandbox of a browser work (user-ns)'
    complete -c agentbox -n $in -l net -x -a 'blocked filtered allowed' -d 'Network mode'
    complete -c agentbox -n $in -l allow -x -a '(__agentbox_groups)' -d 'Allow this host (filtered network)'
    complete -c agentbox -n $in -l deny -x -a '(__agentbox_groups)' -d 'Deny this host'
    complete -c agentbox -n $in -l unknown -x -a 'ask deny' -d 'Ask about other hosts, or deny them'
    complete -c agentbox -n $in -l allow-private -x -d 'Allow this private address range'
    complete -c agentbox -n $in -l host-port -x -d 'Reach this host port at localhost'
    complete -c agentbox -n $in -l publish -x -d 'Expose this port on the host localhost'
    complete -c agentbox -n $in -l upstream -x -a 'none env http://' -d 'Send outgoing traffic through this proxy'
    complete -c agentbox -n $in -l secret -x -a '(__agentbox_secrets)' -d 'Inject this secret; hide it from the box'
    complete -c agentbox -n $in -l ssh -x -a '(__fish_print_hostnames)' -d 'Let it log in there with keys of your agent'
    complete -c agentbox -n $in -l env -x -d 'Set a variable in the box'
    complete -c agentbox -n $in -l pass-env -x -a '(set --export --names)' -d 'Keep a variable that would be removed'
    complete -c agentbox -n $in -l timeout -x -d 'Time limit for the command'
    complete -c agentbox -n $in -l memory -x -d 'Limit memory'
    complete -c agentbox -n $in -l processes -x -d 'Limit the number of processes'
    complete -c agentbox -n $in -l files -x -d 'Limit open files per process'
    complete -c agentbox -n $in -l require -x -a '(__fish_append , (__agentbox_properties))' -d 'Refuse to start without this guarantee'
    complete -c agentbox -n $in -l fallback -x -a 'strict warn' -d 'If a guarantee is missing: stop, or warn'
    complete -c agentbox -n $in -l engine -x -a 'auto full shared-proc no-namespaces' -d 'What the box is built of'
    complete -c agentbox -n $in -l terminal -x -a 'filtered raw' -d 'What output reaches your terminal'
end

complete -c agentbox -n '__agentbox_running run' -l keep -d 'Keep the box after the command; see stop'
complete -c agentbox -n '__agentbox_running run' -l idle -x -d 'End a kept box idle for this long'
complete -c agentbox -n '__agentbox_running run' -l in -x -a '(__agentbox_runs)' -d 'Run the command in this kept box'
complete -c agentbox -n '__agentbox_running run' -l detach -s d -d 'Run it in the background; see attach'
complete -c agentbox -n '__agentbox_in attach' -l quiet -s q -d 'Print only the output of the command'
complete -c agentbox -n '__agentbox_in shell' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_in attach' -a '(__agentbox_runs)'
complete -c agentbox -n __agentbox_running -l command -s c -x -d 'Run this text with a shell'
complete -c agentbox -n __agentbox_running -l shell -r -F -d 'Shell for -c'
complete -c agentbox -n __agentbox_running -l yes -d 'Approve everything that would be asked'
complete -c agentbox -n __agentbox_running -l approver -x -a '(__fish_complete_command)' -d 'Ask this program instead of a person'
complete -c agentbox -n __agentbox_running -l on-violation -x -a '(__fish_complete_command)' -d 'Run this program for every denial'
complete -c agentbox -n __agentbox_running -l require-covered -d 'Refuse to start if credentials are exposed'
complete -c agentbox -n __agentbox_running -l fd -x -d 'Keep this file descriptor open in the box'
complete -c agentbox -n __agentbox_running -l cwd -x -a '(__fish_complete_directories)' -d 'Start the command in this folder'
complete -c agentbox -n '__agentbox_in shell' -l cwd -x -a '(__fish_complete_directories)' -d 'Start the shell in this folder'
complete -c agentbox -n __agentbox_running -l name -x -d 'Name the run and keep its home layer'
complete -c agentbox -n __agentbox_running -l audit -r -F -d 'Also write the record of the run here'
complete -c agentbox -n __agentbox_running -l trace-denials -d 'Also record denied files and system calls'
complete -c agentbox -n __agentbox_running -l verbose -s v -d 'Show guarantees in force; -vv adds timings'
complete -c agentbox -n __agentbox_running -l quiet -s q -d 'Print only errors'
complete -c agentbox -n '__agentbox_running run' -l dry-run -d 'Show what it may do, and start nothing'
complete -c agentbox -n '__agentbox_running run' -l json -d 'With --dry-run: print JSON'
complete -c agentbox -n '__agentbox_running run' -l result -r -F -d 'Write the result of the run here, as JSON'
complete -c agentbox -n '__agentbox_running exec' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_running learn' -l json -d 'Print one object'
complete -c agentbox -n '__agentbox_running learn' -l save -x -d 'Save what was learned as a profile'
for in in run exec learn
    complete -c agentbox -n "__agentbox_in $in" -a '(__agentbox_foreign)'
end

complete -c agentbox -n '__agentbox_in check' -l command -s c -x -d 'Judge this text'
complete -c agentbox -n '__agentbox_in check' -l stdin -d 'Judge standard input as one script'
complete -c agentbox -n '__agentbox_in check' -l batch -d 'Judge each line of standard input'
complete -c agentbox -n '__agentbox_in check' -l null -s 0 -d 'With --batch: commands end with NUL'
complete -c agentbox -n '__agentbox_in check' -l json -d 'Print one line of JSON'
complete -c agentbox -n '__agentbox_in check' -l explain -d 'Show every command in it and its verdict'

complete -c agentbox -n '__agentbox_in ps' -l all -s a -d 'Also runs with changes to apply'
complete -c agentbox -n '__agentbox_in ps' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in watch' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_in stop' -l all -d 'Every active run'
complete -c agentbox -n '__agentbox_in stop' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in stop' -l grace -x -d 'Time between TERM and KILL'
complete -c agentbox -n '__agentbox_in stop' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_in gc' -l older -x -d 'Remove runs that ended longer ago'
complete -c agentbox -n '__agentbox_in gc' -l keep -x -d 'Keep this many of the newest runs'
complete -c agentbox -n '__agentbox_in gc' -l quarantine -d 'Also remove runs with quarantined files'
complete -c agentbox -n '__agentbox_in gc' -l layers -d 'Also remove old layers with changes to apply'
complete -c agentbox -n '__agentbox_in gc' -l dry-run -d 'Only list what would be removed'
complete -c agentbox -n '__agentbox_in gc' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_at layers' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in layers list' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in layers refresh' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in layers refresh' -F -a '(__agentbox_layers)'
complete -c agentbox -n '__agentbox_in layers rm' -l yes -s y -d 'Also remove changes and home layers'
complete -c agentbox -n '__agentbox_in layers rm' -a '(__agentbox_layers)'
complete -c agentbox -n '__agentbox_in ports' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in ports' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_in publish' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in publish' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_in log' -l follow -s f -d 'Keep printing until the run ends'
complete -c agentbox -n '__agentbox_in log' -l lines -s n -x -d 'Only the last lines, or runs'
complete -c agentbox -n '__agentbox_in log' -l list -s l -d 'List the runs, newest first'
complete -c agentbox -n '__agentbox_in log' -l all -d 'Every run, oldest first'
complete -c agentbox -n '__agentbox_in log' -l denied -d 'Only what was denied'
complete -c agentbox -n '__agentbox_in log' -l allowed -d 'Only what was allowed'
complete -c agentbox -n '__agentbox_in log' -l host -x -d 'Only this host'
complete -c agentbox -n '__agentbox_in log' -l since -x -d 'From this time on'
complete -c agentbox -n '__agentbox_in log' -l until -x -d 'Before this time'
complete -c agentbox -n '__agentbox_in log' -l json -d 'Records as they are'
complete -c agentbox -n '__agentbox_in log' -l stats -d 'Summarize hosts, bytes and denials'
complete -c agentbox -n '__agentbox_in log' -l html -r -F -d 'Write an HTML page about the run'
complete -c agentbox -n '__agentbox_in log' -l dir -x -a '(__fish_complete_directories)' -d 'Every record below this folder'
complete -c agentbox -n '__agentbox_in log' -l verify -d 'Check that nobody changed the record'
complete -c agentbox -n '__agentbox_in log' -l key -r -F -d 'With --verify, also know these public keys'
complete -c agentbox -n '__agentbox_in log' -a '(__agentbox_any_runs)'
complete -c agentbox -n '__agentbox_in diff' -l stat -d 'One line per change, with its labels'
complete -c agentbox -n '__agentbox_in diff' -l json -d 'Print the changes as JSON'
complete -c agentbox -n '__agentbox_in diff' -l hunks -d 'With --json: also the changed lines'
complete -c agentbox -n '__agentbox_in diff' -l html -r -F -d 'Write an HTML page with the changes'
complete -c agentbox -n '__agentbox_in diff' -l home -d 'The layer above your home folder'
complete -c agentbox -n '__agentbox_in diff' -l labelled -d 'Only changes that want a look'
complete -c agentbox -n '__agentbox_in diff' -l safe -d 'Only changes without a label'
complete -c agentbox -n '__agentbox_in diff' -F -a '(__agentbox_layers)'
complete -c agentbox -n '__agentbox_in diff' -F -a '(__agentbox_any_runs)'
complete -c agentbox -n '__agentbox_in why' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in why' -l read -d 'Only: may a run read this path?'
complete -c agentbox -n '__agentbox_in why' -l write -d 'Only: may a run write it?'
complete -c agentbox -n '__agentbox_in why' -l profile -x -a '(__agentbox_profiles)' -d 'Start from this profile'
complete -c agentbox -n '__agentbox_in why' -l config -r -F -d 'Read this file instead of your settings'
complete -c agentbox -n '__agentbox_in why' -l workspace -x -a '(__fish_complete_directories)' -d 'Project folder (default: current folder)'
complete -c agentbox -n '__agentbox_in why' -F -a 'last (__agentbox_any_runs)'
complete -c agentbox -n '__agentbox_in why' -a '(__agentbox_denials)'
complete -c agentbox -n '__agentbox_in connect' -a '(__fish_print_hostnames)'

complete -c agentbox -n '__agentbox_in doctor' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in init' -s y -l yes -d 'Write and trust the file without asking'
complete -c agentbox -n '__agentbox_in init' -l print -d 'Print the file; write nothing'
complete -c agentbox -n '__agentbox_in init' -l json -d 'Print what was detected and done as JSON'
complete -c agentbox -n '__agentbox_in init' -l workspace -x -a '(__fish_complete_directories)' -d 'Project folder'
complete -c agentbox -n '__agentbox_in import' -F -a 'srt claude-code codex nono'
complete -c agentbox -n '__agentbox_in import' -l write -d 'Write them to the project\'s .agentbox.json'
complete -c agentbox -n '__agentbox_in import' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in import' -l workspace -x -a '(__fish_complete_directories)' -d 'Project folder'
complete -c agentbox -n '__agentbox_in doctor' -l fix -d 'Print an AppArmor profile for this program'
complete -c agentbox -n '__agentbox_in doctor' -l attack -d 'Attack a box from inside and report'

complete -c agentbox -n '__agentbox_in config show' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in config show' -s a -l all -d 'Show every value'
complete -c agentbox -n '__agentbox_in config get' -l json -d 'Print JSON'
for in in '__agentbox_in config set' '__agentbox_in config unset' '__agentbox_in config edit'
    complete -c agentbox -n $in -l user -d 'Your settings file (the default)'
    complete -c agentbox -n $in -l project -d 'The project\'s .agentbox.json'
end
for in in '__agentbox_in config show' '__agentbox_in config get' '__agentbox_in config set' '__agentbox_in config unset'
    complete -c agentbox -n $in -a '(__agentbox_keys)'
end
for in in '__agentbox_in config set' '__agentbox_in config unset'
    complete -c agentbox -n $in -l yes -s y -d 'Do not ask if it allows more'
end
for in in '__agentbox_in config check' '__agentbox_in config path'
    complete -c agentbox -n $in -l json -d 'Print JSON'
end
for in in '__agentbox_in config check' '__agentbox_in config path' '__agentbox_in config set' '__agentbox_in config unset' '__agentbox_in config edit'
    complete -c agentbox -n $in -l config -r -F -d 'Read this file instead of your settings'
    complete -c agentbox -n $in -l workspace -x -a '(__fish_complete_directories)' -d 'Project folder'
end
complete -c agentbox -n '__agentbox_in config check' -F

complete -c agentbox -n '__agentbox_in profile list' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in profile presets' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in profile show' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in profile show' -F -a '(__agentbox_profiles)'
complete -c agentbox -n '__agentbox_in rules list' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in rules list' -l profile -x -a '(__agentbox_profiles)' -d 'Start from this profile'
complete -c agentbox -n '__agentbox_in rules list' -l config -r -F -d 'Read this file instead of your settings'
complete -c agentbox -n '__agentbox_in rules list' -l workspace -x -a '(__fish_complete_directories)' -d 'Project folder'
complete -c agentbox -n '__agentbox_in policy diff' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in policy explain' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in policy test' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in policy test' -l profile -x -a '(__agentbox_profiles)' -d 'Start from this profile'
complete -c agentbox -n '__agentbox_in policy test' -l config -r -F -d 'Read this file instead of your settings'
complete -c agentbox -n '__agentbox_in policy test' -l workspace -x -a '(__fish_complete_directories)' -d 'Project folder (default: current folder)'
complete -c agentbox -n '__agentbox_in policy test' -F
complete -c agentbox -n '__agentbox_in policy explain' -s c -l command -x -d 'Judge this text'
complete -c agentbox -n '__agentbox_in policy explain' -s v -l verbose -d 'List each hidden and protected path'
complete -c agentbox -n '__agentbox_in policy diff' -F -a '(__agentbox_profiles)'

complete -c agentbox -n '__agentbox_in secrets list' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in secrets providers' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in secrets check' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in secrets check' -a '(__agentbox_any_secrets)'
complete -c agentbox -n '__agentbox_in secrets rotate' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in secrets rotate' -a '(__agentbox_any_secrets)'

complete -c agentbox -n '__agentbox_in trust' -l yes -s y -d 'Trust it without asking'
complete -c agentbox -n '__agentbox_in trust' -l json -d 'Print JSON, and do not ask'
complete -c agentbox -n '__agentbox_in trust' -l revoke -d 'No longer trust it'
complete -c agentbox -n '__agentbox_in trust' -F

complete -c agentbox -n __agentbox_hook -l no-box -d 'Judge only; do not rewrite to agentbox run'
complete -c agentbox -n __agentbox_hook -l approver -x -a '(__fish_complete_command)' -d 'Ask this program first'
for in in '__agentbox_in hook install' '__agentbox_in hook uninstall'
    complete -c agentbox -n $in -l project -d 'Use the project settings'
    complete -c agentbox -n $in -l yes -s y -d 'Write without asking'
    complete -c agentbox -n $in -l json -d 'Print JSON, and do not ask'
end
for in in '__agentbox_in hook list' '__agentbox_in hook status'
    complete -c agentbox -n $in -l json -d 'Print JSON'
end
for at in '__agentbox_at hook install' '__agentbox_at hook uninstall' '__agentbox_at hook status'
    complete -c agentbox -n $at -a 'claude-code codex copilot cursor gemini windsurf'
end
complete -c agentbox -n '__agentbox_in serve' -l fd -x -d 'Use this Unix socket, not stdin and stdout'
complete -c agentbox -n '__agentbox_in mcp wrap' -l undo -d 'Restore the commands of the servers'
complete -c agentbox -n '__agentbox_in mcp wrap' -l yes -s y -d 'Write without asking'
complete -c agentbox -n '__agentbox_in mcp wrap' -F
complete -c agentbox -n '__agentbox_in alias' -l fish -d 'Print functions for fish'
complete -c agentbox -n '__agentbox_in alias' -l install -d 'Add a line to the start-up file of your shell'
complete -c agentbox -n '__agentbox_in alias' -l yes -s y -d 'With --install: do not ask'
complete -c agentbox -n '__agentbox_in alias' -a '(__fish_complete_command)'
for in in '__agentbox_in allow' '__agentbox_in deny'
    complete -c agentbox -n $in -l yes -s y -d 'Do not ask if no run was denied it'
    complete -c agentbox -n $in -l run -x -a '(__agentbox_runs)' -d 'The run to change'
    complete -c agentbox -n $in -l always -d 'In every run: add it to your settings'
    complete -c agentbox -n $in -l project -d 'Always, in .agentbox.json of the project'
    complete -c agentbox -n $in -l user -d 'Always, in your settings'
    complete -c agentbox -n $in -l undo -d 'Take an earlier --always back'
    complete -c agentbox -n $in -l for -x -d 'Only for this long'
    complete -c agentbox -n $in -l json -d 'Print JSON'
end
for in in '__agentbox_in allow' '__agentbox_in deny'
    complete -c agentbox -n $in -a '(__agentbox_denials)'
    complete -c agentbox -n $in -a '(__agentbox_denied_hosts)' -d Host
end
# A name in the current folder could be a host, too.
complete -c agentbox -n '__agentbox_in allow; and string match -q "*/*" -- (commandline -ct)' -F
complete -c agentbox -n '__agentbox_in apply' -l theirs -d 'Where both sides changed: take the layer\'s'
complete -c agentbox -n '__agentbox_in apply' -l ours -d 'Where both sides changed: keep the host\'s'
complete -c agentbox -n '__agentbox_in apply' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in apply' -l yes -s y -d 'Do not ask about changes that want a look'
complete -c agentbox -n '__agentbox_in undo' -l theirs -d 'Also take back what changed since'
complete -c agentbox -n '__agentbox_in undo' -l ours -d 'Leave what changed since the apply'
complete -c agentbox -n '__agentbox_in undo' -l json -d 'Print JSON'
for in in '__agentbox_in apply' '__agentbox_in discard'
    complete -c agentbox -n $in -l home -d 'The layer above your home folder'
    complete -c agentbox -n $in -F
end
complete -c agentbox -n '__agentbox_in apply' -l all -d 'Apply every change'
complete -c agentbox -n '__agentbox_in apply' -l safe -d 'Apply the changes without a label'
complete -c agentbox -n '__agentbox_in apply' -l patch -s p -d 'Ask about each change, hunk by hunk'
complete -c agentbox -n '__agentbox_in discard' -l yes -s y -d 'Do not ask'
complete -c agentbox -n '__agentbox_in discard' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in config reload' -l cut -d 'Also close connections no longer allowed'
complete -c agentbox -n '__agentbox_in config reload' -a '(__agentbox_runs)'
complete -c agentbox -n '__agentbox_at approvals' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in approvals list' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in approvals revoke' -l all -d 'Every remembered answer'
complete -c agentbox -n '__agentbox_in approvals revoke' -l session -d 'Every answer of this session'
complete -c agentbox -n '__agentbox_in approvals revoke' -a '(__agentbox_approvals)'
complete -c agentbox -n '__agentbox_in quarantine' -l json -d 'Print JSON'
complete -c agentbox -n '__agentbox_in quarantine list' -a '(__agentbox_any_runs)'
complete -c agentbox -n '__agentbox_in quarantine scan' -a '(__agentbox_any_runs)'
complete -c agentbox -n '__agentbox_in quarantine show' -a '(__agentbox_quarantined)'
complete -c agentbox -n '__agentbox_in quarantine restore' -a '(__agentbox_quarantined)'
complete -c agentbox -n '__agentbox_in quarantine restore' -l to -r -F -d 'Put it there instead of where it was'
complete -c agentbox -n '__agentbox_in quarantine restore' -l force -d 'Move what is there to quarantine instead'
complete -c agentbox -n '__agentbox_in quarantine restore' -l yes -s y -d 'Restore without asking'
