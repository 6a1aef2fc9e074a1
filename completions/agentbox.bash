# bash completion for agentbox

# The options of a command ("run", "config show"); a "=" follows those that take
# a value.
_agentbox_options()
{
	local policy='--profile= --config= --workspace= --with= --write= --read-only
		--read= --deny-read= --deny-write= --home= --review --allow-unix= --docker= --allow-userns --net= --allow=
		--deny= --unknown= --allow-private= --host-port= --publish=
		--upstream= --secret= --ssh= --env= --pass-env= --timeout= --memory=
		--processes= --files= --require= --fallback= --engine=
		--terminal='
	local running='--command= -c= --shell= --cwd= --yes --approver= --require-covered
		--fd= --audit= --name= --on-violation= --trace-denials
		--verbose -v --quiet -q'

	case $1 in
	run) echo "$running --dry-run --json --keep --idle= --in= --detach -d --result= $policy" ;;
	shell) echo "--cwd= $policy" ;;
	attach) echo '--quiet -q' ;;
	exec) echo "--json $running $policy" ;;
	learn) echo "--json --save= $running $policy" ;;
	check) echo "--command= -c= --stdin --batch --null -0 --json --explain $policy" ;;
	ps) echo '--all -a --json' ;;
	ports | publish) echo '--json' ;;
	why) echo '--json --read --write --profile= --config= --workspace=' ;;
	diff) echo '--stat --json --hunks --html= --home --labelled --safe' ;;
	log) echo '--follow -f --lines= -n --list -l --all --denied --allowed --host= --since= --until= --json --stats --html= --dir= --verify --key=' ;;
	stop) echo '--all --json --grace=' ;;
	gc) echo '--older= --keep= --quarantine --layers --dry-run --json' ;;
	layers | 'layers list' | 'layers refresh') echo '--json' ;;
	approvals) echo '--json' ;;
	'layers rm') echo '--yes -y' ;;
	quarantine | 'quarantine list' | 'quarantine show' | 'quarantine scan') echo '--json' ;;
	'quarantine restore') echo '--to= --force --yes -y --json' ;;
	init) echo '--yes -y --print --json --workspace=' ;;
	import) echo '--write --json --workspace=' ;;
	doctor) echo '--json --fix --attack' ;;
	'config show') echo "--all -a --json $policy" ;;
	'config get') echo "--json $policy" ;;
	'config set' | 'config unset') echo '--user --project --yes -y --config= --workspace=' ;;
	'config edit') echo '--user --project --config= --workspace=' ;;
	'config check') echo '--config= --workspace= --json' ;;
	'config path') echo '--config= --workspace= --json' ;;
	'config reload') echo '--cut' ;;
	'rules list') echo '--json --profile= --config= --workspace=' ;;
	'profile list' | 'profile show' | 'profile presets' | 'policy diff') echo '--json' ;;
	'policy explain') echo "--command= -c= --verbose -v --json $policy" ;;
	'policy test') echo '--json --profile= --config= --workspace=' ;;
	'secrets list' | 'secrets check' | 'secrets rotate') echo "--json $policy" ;;
	'secrets providers') echo '--json' ;;
	trust) echo '--yes -y --json --revoke' ;;
	allow | deny) echo '--run= --always --project --user --undo --for= --yes -y --json' ;;
	apply) echo '--all --safe --patch -p --home --yes -y --theirs --ours --json' ;;
	discard) echo '--home --yes -y --json' ;;
	undo) echo '--theirs --ours --json' ;;
	'approvals list') echo '--json' ;;
	'approvals revoke') echo '--all --session' ;;
	'hook uninstall') echo '--project --yes -y --json' ;;
	'hook list' | 'hook status') echo '--json' ;;
	'hook install') echo "--no-box --approver= --project --yes -y --json $policy" ;;
	hook\ *) echo "--no-box --approver= $policy" ;;
	serve) echo '--fd=' ;;
	'mcp serve') echo "$policy" ;;
	'mcp wrap') echo "--undo --yes -y $policy" ;;
	alias) echo '--fish --install --yes -y' ;;
	version) echo '--json' ;;
	help) echo '--man' ;;
	esac
	echo '--help -h'
}

# The subcommands of a command.
_agentbox_words()
{
	case $1 in
	'') echo 'run shell attach exec learn check ps watch stop allow deny apply discard undo ports publish log diff why layers quarantine gc connect init import doctor config profile rules policy secrets trust approvals hook mcp serve alias completion help version --help --version --color' ;;
	help) echo "$(_agentbox_words '' | tr ' ' '\n' | grep -v '^-') agentbox agentbox.json" ;;
	completion) echo 'bash zsh fish' ;;
	config) echo 'show get set unset edit check path reload schema' ;;
	profile) echo 'list show presets' ;;
	rules) echo 'list' ;;
	policy) echo 'diff explain test' ;;
	layers) echo 'list rm refresh' ;;
	secrets) echo 'list providers check rotate' ;;
	approvals) echo 'list revoke' ;;
	quarantine) echo 'list show restore scan' ;;
	mcp) echo 'serve wrap' ;;
	import) echo 'srt claude-code codex nono' ;;
	hook) echo 'install uninstall list status claude-code codex copilot cursor gemini windsurf' ;;
	esac
}

# Run the installed program: never a file of the current folder, which may be hostile.
_agentbox_ask()
{
	local program

	program=$(type -P agentbox) && [[ $program == /* && ! ${program%/*}/ -ef . ]] &&
		command "$program" "$@" 2>/dev/null
}

_agentbox_profiles()
{
	# Each line begins with a name.
	_agentbox_ask profile list | while read -r name _; do
		echo "$name"
	done
}

# The presets of --with.
_agentbox_presets()
{
	echo 'auto bitbucket codeberg dart deno dotnet elixir github gitlab go java node php python ruby rust'
}

_agentbox_keys()
{
	_agentbox_ask config show --all --workspace / | grep -oE '^[a-z]+(\.[a-zA-Z]+)?'
}

# The active runs.
_agentbox_runs()
{
	local state=${AGENTBOX_STATE:-${XDG_STATE_HOME:-~/.local/state}/agentbox}

	ls "$state/live" 2>/dev/null
}

# Active and ended runs.
_agentbox_any_runs()
{
	local state=${AGENTBOX_STATE:-${XDG_STATE_HOME:-~/.local/state}/agentbox}

	ls "$state/live" "$state/runs" 2>/dev/null | grep -v /
}

# The kept layers.
_agentbox_layers()
{
	local state=${AGENTBOX_STATE:-${XDG_STATE_HOME:-~/.local/state}/agentbox}

	ls "$state/layers" 2>/dev/null
}

# The remembered answers: each line begins with an id.
_agentbox_approvals()
{
	_agentbox_ask approvals list | while read -r name _; do
		[[ $name != [as][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f] ]] ||
			echo "$name"
	done
}

# The ids of what the last run was denied, and the hosts with "hosts".
_agentbox_denials()
{
	local key=id

	[ "${1-}" != hosts ] || key=domain
	_agentbox_ask log --denied --json |
		grep -oE "\"$key\":\"[^\"]+\"" | cut -d '"' -f 4 | sort -u
}

# The files in quarantine: each begins a line with its id.
_agentbox_quarantined()
{
	_agentbox_ask quarantine list | grep -oE '^[a-z0-9]{5}-q[0-9]+'
}

# The variables of known services.
_agentbox_secrets()
{
	echo 'ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN AZURE_OPENAI_API_KEY
		AZURE_OPENAI_KEY CLAUDE_CODE_OAUTH_TOKEN CODEX_API_KEY
		COPILOT_GITHUB_TOKEN DASHSCOPE_API_KEY DEEPSEEK_API_KEY
		FLIT_PASSWORD GEMINI_API_KEY GH_TOKEN
		GITHUB_PERSONAL_ACCESS_TOKEN GITHUB_TOKEN GOOGLE_API_KEY
		GOOGLE_GENERATIVE_AI_API_KEY GROQ_API_KEY HF_TOKEN
		HUGGINGFACEHUB_API_TOKEN HUGGING_FACE_HUB_TOKEN
		MISTRAL_API_KEY NODE_AUTH_TOKEN NOUS_API_KEY NPM_TOKEN
		OPENAI_ADMIN_KEY OPENAI_API_KEY OPENCODE_API_KEY OPENROUTER_API_KEY
		POETRY_PYPI_TOKEN_PYPI TOGETHERAI_API_KEY TOGETHER_API_KEY
		TWINE_PASSWORD UV_PUBLISH_TOKEN XAI_API_KEY'
}

# These, and the secrets of the policy: each line begins with a name.
_agentbox_any_secrets()
{
	_agentbox_secrets
	_agentbox_ask secrets list |
		grep -oE '^[A-Za-z_][A-Za-z0-9_]*(     |$)'
}

_agentbox_properties()
{
	echo 'user-ns pid-fence pid-view net-fence dns-fence write-fence read-deny
		protected-names ipc-fence ipc-fence-late syscalls no-new-privs
		limits transparent'
}

# Names of files (with -d, of folders) that begin with $2.
_agentbox_paths()
{
	local IFS=$'\n'

	compopt -o filenames 2>/dev/null
	COMPREPLY=($(compgen "$1" -- "$2"))
}

# The value of an option.
_agentbox_value()
{
	local cur=$2 head=

	case $1 in
	--run | --in) COMPREPLY=($(compgen -W "$(_agentbox_runs)" -- "$cur")) ;;
	--profile) COMPREPLY=($(compgen -W "$(_agentbox_profiles)" -- "$cur")) ;;
	--config | --write | --read | --deny-read | --deny-write | --allow-unix | --shell | --audit | --result | --html | --to | --key)
		_agentbox_paths -f "$cur" ;;
	--workspace | --cwd | --dir) _agentbox_paths -d "$cur" ;;
	--home) COMPREPLY=($(compgen -W 'layered kept readonly private' -- "$cur")) ;;
	--net) COMPREPLY=($(compgen -W 'blocked filtered allowed' -- "$cur")) ;;
	--allow | --deny)
		COMPREPLY=($(compgen -W '@github @npm @pypi @crates @go @maven
			@rubygems @packagist @nuget @hex @debian @llm' -- "$cur")) ;;
	--unknown) COMPREPLY=($(compgen -W 'ask deny' -- "$cur")) ;;
	--upstream) COMPREPLY=($(compgen -W 'none env http://' -- "$cur")) ;;
	--secret) COMPREPLY=($(compgen -W "$(_agentbox_secrets)" -- "$cur")) ;;
	--approver | --on-violation) COMPREPLY=($(compgen -c -- "$cur")) ;;
	--pass-env) COMPREPLY=($(compgen -v -- "$cur")) ;;
	--with)
		[[ $cur != *,* ]] || head=${cur%,*},
		COMPREPLY=($(compgen -P "$head" -W "$(_agentbox_presets)" \
			-- "${cur##*,}")) ;;
	--require)
		[[ $cur != *,* ]] || head=${cur%,*},
		COMPREPLY=($(compgen -P "$head" -W "$(_agentbox_properties)" \
			-- "${cur##*,}")) ;;
	--fallback) COMPREPLY=($(compgen -W 'strict warn' -- "$cur")) ;;
	--engine) COMPREPLY=($(compgen -W 'auto full shared-proc no-namespaces' -- "$cur")) ;;
	--color) COMPREPLY=($(compgen -W 'auto always never' -- "$cur")) ;;
	--terminal) COMPREPLY=($(compgen -W 'filtered raw' -- "$cur")) ;;
	*) COMPREPLY=() ;;
	esac
}

# An argument that is not an option.
_agentbox_operand()
{
	case $1 in
	'profile show' | 'policy diff')
		_agentbox_paths -f "$2"
		COMPREPLY+=($(compgen -W "$(_agentbox_profiles)" -- "$2")) ;;
	'config show' | 'config get' | 'config set' | 'config unset')
		COMPREPLY=($(compgen -W "$(_agentbox_keys)" -- "$2")) ;;
	'config check' | 'policy test' | trust) _agentbox_paths -f "$2" ;;
	ports | publish | stop | watch | shell | attach | 'config reload')
		COMPREPLY=($(compgen -W "$(_agentbox_runs)" -- "$2")) ;;
	log) COMPREPLY=($(compgen -W "$(_agentbox_any_runs)" -- "$2")) ;;
	diff)
		_agentbox_paths -f "$2"
		COMPREPLY+=($(compgen -W "$(_agentbox_layers) $(_agentbox_any_runs)" -- "$2")) ;;
	why)
		_agentbox_paths -f "$2"
		COMPREPLY+=($(compgen -W "last $(_agentbox_denials) $(_agentbox_any_runs)" -- "$2")) ;;
	allow | deny)
		# A name in the current folder could be a host, too.
		[[ $2 != */* && $2 != "~"* ]] || _agentbox_paths -f "$2"
		COMPREPLY+=($(compgen -W "$(_agentbox_denials) $(_agentbox_denials hosts)" -- "$2")) ;;
	'hook install')
		COMPREPLY=($(compgen -W 'claude-code codex copilot cursor gemini windsurf' -- "$2")) ;;
	alias) COMPREPLY=($(compgen -c -- "$2")) ;;
	'layers rm')
		COMPREPLY=($(compgen -W "$(_agentbox_layers)" -- "$2")) ;;
	'layers refresh')
		_agentbox_paths -f "$2"
		COMPREPLY+=($(compgen -W "$(_agentbox_layers)" -- "$2")) ;;
	'quarantine list' | 'quarantine scan')
		COMPREPLY=($(compgen -W "$(_agentbox_any_runs)" -- "$2")) ;;
	'quarantine show' | 'quarantine restore')
		COMPREPLY=($(compgen -W "$(_agentbox_quarantined)" -- "$2")) ;;
	'approvals revoke')
		COMPREPLY=($(compgen -W "$(_agentbox_approvals)" -- "$2")) ;;
	'secrets check' | 'secrets rotate')
		COMPREPLY=($(compgen -W "$(_agentbox_any_secrets)" -- "$2")) ;;
	connect) COMPREPLY=($(compgen -A hostname -- "$2")) ;;
	*) COMPREPLY=($(compgen -W "$(_agentbox_words "$1")" -- "$2")) ;;
	esac
}

# The function that completes a command, without the bash-completion package.
_agentbox_foreign_function()
{
	complete -p -- "$1" 2>/dev/null | grep -oE -- '-F [^ ]+' | cut -d ' ' -f 2
}

# The command of `run` or `check --` starts at word $1: complete it as usual.
_agentbox_foreign()
{
	local name=

	[ "$COMP_CWORD" -eq "$1" ] || name=$(_agentbox_foreign_function "${COMP_WORDS[$1]}")
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	elif [ "$COMP_CWORD" -eq "$1" ]; then
		COMPREPLY=($(compgen -c -- "${COMP_WORDS[COMP_CWORD]}"))
	elif [ -n "$name" ]; then
		COMP_WORDS=("${COMP_WORDS[@]:$1}")
		COMP_CWORD=$((COMP_CWORD - $1))
		"$name" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	else
		_agentbox_paths -f "${COMP_WORDS[COMP_CWORD]}"
	fi
}

_agentbox()
{
	local cur=${COMP_WORDS[COMP_CWORD]} command= options= word i pending=
	local ended=

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ "$word" = = ]; then
			# bash splits words at "=": "--net", "=", "blocked".
			continue
		elif [ -n "$pending" ]; then
			pending=
		elif [ -n "$ended" ]; then
			:
		elif [ "$word" = -- ]; then
			ended=1
			if [[ $command == @(|run|exec|learn|check) ]]; then
				_agentbox_foreign $((i + 1))
				return
			fi
		elif [[ $word == -* ]]; then
			[[ $options != *" $word= "* && $word != --color ]] || pending=$word
		elif [ -z "$command" ]; then
			if [[ " $(_agentbox_words '') " != *" $word "* ]]; then
				_agentbox_foreign "$i"
				return
			fi
			command=$word
			options=" $(echo $(_agentbox_options "$command")) "
		elif [[ $command == @(run|exec|learn) ]]; then
			_agentbox_foreign "$i"
			return
		elif [[ " $(_agentbox_words "$command") " == *" $word "* ]]; then
			command="$command $word"
			options=" $(echo $(_agentbox_options "$command")) "
		fi
	done
	[ "$cur" != = ] || cur=
	if [ -n "$pending" ]; then
		_agentbox_value "$pending" "$cur"
	elif [[ $cur == -* && -n $command && -z $ended ]]; then
		COMPREPLY=($(compgen -W "${options//=/}" -- "$cur"))
	elif [[ $command == @(run|exec|learn) ]]; then
		_agentbox_foreign "$COMP_CWORD"
	else
		_agentbox_operand "$command" "$cur"
		# A program is run in the box.
		[ -n "$command$ended" ] || [ ${#COMPREPLY[@]} -gt 0 ] ||
			COMPREPLY=($(compgen -c -- "$cur"))
	fi
}

complete -F _agentbox agentbox
