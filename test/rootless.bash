# Rootless containers: `load rootless`, with POD_USER and PODS set.
#
# as_pod_user SECONDS COMMAND...: run it as that user, in $PODS/user, with home/ and run/
# there. The user has an account and, if IDENTITIES is set, more uids and gids, in files
# that only this call sees. Podman leaves a process behind, which ends with the pid
# namespace.
as_pod_user()
{
	export IDENTITIES POD_USER PODS
	timeout "$1" unshare --mount --pid --fork --kill-child --mount-proc bash -euc '
		home=$PODS/user
		(cat /etc/passwd; echo "pod:x:$POD_USER:$POD_USER::$home/home:/bin/sh") >"$PODS/passwd"
		(cat /etc/group; echo "pod:x:$POD_USER:") >"$PODS/group"
		echo "${IDENTITIES:+pod:300000:65536}" >"$PODS/subuid"
		cp "$PODS/subuid" "$PODS/subgid"
		for name in passwd group subuid subgid; do
			mount --bind "$PODS/$name" "/etc/$name"
		done
		cd "$home"
		exec setpriv --reuid "$POD_USER" --regid "$POD_USER" --clear-groups --inh-caps=-all \
			env HOME="$home/home" XDG_RUNTIME_DIR="$home/run" "$@"' bash "${@:2}" 3>&- 4>&-
}
