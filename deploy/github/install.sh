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

# Ubuntu 24.04 and newer: a profile for this very file.
restricted=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
if [ "$(cat "$restricted" 2>/dev/null)" = 1 ] && sudo -n true 2>/dev/null; then
	"$program" doctor --fix 2>/dev/null | sudo -n tee /etc/apparmor.d/agentbox >/dev/null
	sudo -n apparmor_parser -r /etc/apparmor.d/agentbox
fi

echo "$prefix/bin" >>"$GITHUB_PATH"
echo "path=$program" >>"$GITHUB_OUTPUT"
echo "::group::agentbox doctor"
"$program" doctor || true	# a run itself says what it lacks
echo "::endgroup::"
