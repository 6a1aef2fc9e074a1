# unsanitized: it prints two lines
load helpers

@test "alias: a program with a profile of its name gets it" {
	agentbox alias claude
	[ "$status" -eq 0 ]
	[ "$output" = 'claude() { agentbox run --profile claude -- claude "$@"; }' ]
}

@test "alias: any other program is run by the default profile" {
	mkdir bin
	printf '#!/bin/sh\n' | tee bin/cursor-agent >bin/aider
	chmod +x bin/*
	PATH=$PWD/bin:$PATH
	agentbox alias cursor-agent aider
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 'cursor-agent() { agentbox run -- cursor-agent "$@"; }' ]
	[ "${lines[1]}" = 'aider() { agentbox run -- aider "$@"; }' ]
}

@test "alias: a name that is neither a program nor a profile is said, the others are printed" {
	agentbox_split alias nosuchprogram claude
	[ "$status" -eq 1 ]
	[ "$output" = 'claude() { agentbox run --profile claude -- claude "$@"; }' ]
	[ "$stderr" = "agentbox: there is no program 'nosuchprogram' on PATH, and no profile of that name" ]
	agentbox_split alias nosuchprogram
	[ "$status" -eq 1 ]
	[ -z "$output" ]
}

@test "alias: --install adds one line to the file of the shell, once" {
	printf 'mine=1' >"$HOME/.bashrc"
	export SHELL=/bin/bash
	agentbox alias --install claude codex
	[ "$status" -eq 1 ]
	[[ "$output" == *"no terminal to ask on"* ]]
	[ "$(cat "$HOME/.bashrc")" = mine=1 ]
	agentbox alias --install --yes claude codex
	[ "$status" -eq 0 ]
	[ "$(sed -n 1p "$HOME/.bashrc")" = mine=1 ]
	[ "$(tail -n 1 "$HOME/.bashrc")" = 'command -v agentbox >/dev/null && eval "$(agentbox alias claude codex)"' ]
	cp "$HOME/.bashrc" before
	agentbox alias --install --yes codex claude
	[ "$status" -eq 0 ]
	cmp before "$HOME/.bashrc"
	agentbox alias --install --yes codex gemini
	[ "$(tail -n 1 "$HOME/.bashrc")" = 'command -v agentbox >/dev/null && eval "$(agentbox alias gemini)"' ]
	PATH=$(dirname "$AGENTBOX"):$PATH bash --rcfile "$HOME/.bashrc" -ic 'declare -F claude codex gemini; echo $mine' 2>/dev/null >seen
	[ "$(xargs <seen)" = "claude codex gemini 1" ]
	SHELL=/bin/zsh agentbox alias --install -y claude
	[[ "$(cat "$HOME/.zshrc")" == *'alias claude)"' ]]
	mkdir -p "$HOME/.config/fish"
	agentbox alias --install -y --fish claude
	[[ "$(cat "$HOME/.config/fish/config.fish")" == *'agentbox alias --fish claude | source' ]]
	SHELL=/bin/tcsh agentbox alias --install -y claude
	[ "$status" -eq 2 ]
	rm -rf "$HOME/.zshrc" && mkdir "$HOME/.zshrc"
	SHELL=/bin/zsh agentbox alias --install -y claude
	[ "$status" -eq 1 ]
	[[ "$output" == *"cannot change $HOME/.zshrc: Is a directory"* ]]
}

@test "alias: what is printed works in bash" {
	run bash -c "PATH=$(dirname "$AGENTBOX"):\$PATH; eval \"\$(agentbox alias printf)\"; cd '$WORKSPACE' && printf '%s.' 'a b' c"
	[ "$status" -eq 0 ]
	[ "$output" = "a b.c." ]
}

@test "alias: fish has words of its own" {
	agentbox alias --fish claude
	[ "$output" = 'function claude; agentbox run --profile claude -- claude $argv; end' ]
}

@test "alias: what is not a name is refused, and nothing is printed" {
	for name in 'a;b' '$(id)' '-x' 'a b' ''; do
		agentbox alias -- claude "$name"
		[ "$status" -eq 2 ]
		[[ "$output" != *'()'* ]]
	done
}
