#!/bin/bash
# First step of the action: install agentbox beside the workspace, where a box
# cannot change it.
set -euo pipefail

version=${AB_VERSION:-}
if [ -z "$version" ] && [[ "${AB_REF:-}" =~ ^v[0-9] ]]; then
	version=${AB_REF#v}
fi
url=${AB_URL:-}
if [ -z "$url" ]; then
	if [ -z "$version" ] || [ -z "${AB_REPOSITORY:-}" ]; then
		echo "::error::agentbox: use the action with a version tag, or set its input \"version\" or \"url\""
		exit 1
	fi
	url=$GITHUB_SERVER_URL/$AB_REPOSITORY/releases/download/v$version
fi
prefix=$RUNNER_TEMP/agentbox
options=(--from "$url" --prefix "$prefix")
[ -z "$version" ] || options+=(--version "$version")
[ -z "${AB_SHA256:-}" ] || options+=(--sha256 "$AB_SHA256")
sh "$GITHUB_ACTION_PATH/../../install.sh" "${options[@]}"
program=$prefix/bin/agentbox

# Ubuntu 24.04 and newer: a profile for this very file. Nothing is printed if the
# machine has one already.
profile=/etc/apparmor.d/agentbox-action
if [ "$(sysctl -n kernel.apparmor_restrict_unprivileged_userns 2>/dev/null)" = 1 ] &&
	sudo -n true 2>/dev/null; then
	text=$("$program" doctor --fix 2>/dev/null || true)
	if [ -n "$text" ]; then
		sudo -n tee "$profile" <<<"$text" >/dev/null
		sudo -n apparmor_parser -r "$profile"
	fi
fi

echo "$prefix/bin" >>"$GITHUB_PATH"
echo "path=$program" >>"$GITHUB_OUTPUT"
echo "::group::agentbox doctor"
# The runner obeys lines of the output, and doctor quotes the project's settings.
stop=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$stop"
"$program" doctor || true	# a run itself says what it lacks
printf '\n::%s::\n' "$stop"
echo "::endgroup::"
