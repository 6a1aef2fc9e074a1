# The world in which the examples of documents and manual pages run: `load stand_ins` after helpers.
#
# stand_ins: programs of the examples that this machine may lack, or that would want a network. They
# run in the box, and do nothing there.
stand_ins()
{
	local name

	mkdir -p "$HOME/bin" "$HOME/.cache/pip" "$HOME/.ssh"
	for name in make npm pip claude codex sudo; do
		printf '#!/bin/sh\nexit 0\n' >"$HOME/bin/$name"
	done
	# What does not need the network is git's own.
	printf '#!/bin/sh\n[ "$1" = clone ] || [ "$1" = push ] || exec /usr/bin/git "$@"\n' >"$HOME/bin/git"
	printf '#!/bin/sh\nexit 0\n' | tee script.sh app crawl send-a-request.sh >install.sh
	echo 'git status' >commands.txt
	chmod +x "$HOME"/bin/* script.sh app crawl
	echo key >"$HOME/.ssh/id_ed25519"
	chmod 600 "$HOME/.ssh/id_ed25519"
	git init -q .
	ln -s "$AGENTBOX" "$HOME/bin/agentbox"
	export PATH=$HOME/bin:$PATH BUILD_TOKEN=0123456789abcdef OPENAI_API_KEY=sk-proj-0123456789abcdef
}

# It is asked once for all tests of a file.
have_doctor()
{
	local answer=$BATS_FILE_TMPDIR/doctor

	if [ ! -e "$answer" ]; then
		"$AGENTBOX" doctor >/dev/null 2>&1 && echo yes >"$answer" || echo no >"$answer"
	fi
	[ "$(<"$answer")" = yes ]
}
