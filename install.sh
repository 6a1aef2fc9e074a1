#!/bin/sh
# Install agentbox from a release: choose the tarball for this machine, verify
# its checksum, put its files below a folder. Or remove them again.
#
#   sh install.sh                           for you, in ~/.local
#   sh install.sh --prefix /usr/local       for every user, as root
#   sh install.sh --uninstall [--prefix DIR]
#
# --from DIR|URL   the folder or the address of the release (AGENTBOX_URL)
# --version V      this version, if the release has several
# --sha256 HEX     the tarball must have this checksum too
# --force          replace an agentbox that this script did not install
#
# Settings and records of runs are not touched, neither by an update nor by
# --uninstall. If anything fails, everything is as it was before.
set -eu
default_url=''

say()
{
	printf 'install.sh: %s\n' "$*" >&2
}

die()
{
	say "$*"
	exit 1
}

usage()
{
	say "$*"
	say "usage: sh install.sh [--prefix DIR] [--from DIR|URL] [--version V] [--sha256 HEX] [--force] | --uninstall [--prefix DIR]"
	exit 2
}

# Everything is in functions that are called on the last line, so that a script
# that was cut off on its way does nothing.
read_options()
{
	prefix='' from=${AGENTBOX_URL:-} version='' sha256='' force='' uninstall=''
	while [ $# -gt 0 ]; do
		case $1 in
		--prefix | --from | --version | --sha256)
			[ $# -ge 2 ] && [ -n "$2" ] || usage "$1 needs a value"
			case $1 in
			--prefix) prefix=$2 ;;
			--from) from=$2 ;;
			--version) version=$2 ;;
			--sha256) sha256=$2 ;;
			esac
			shift
			;;
		--force) force=1 ;;
		--uninstall) uninstall=1 ;;
		-h | --help)
			sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
			exit 0
			;;
		*) usage "unexpected argument \"$1\"" ;;
		esac
		shift
	done
	if [ -z "$prefix" ]; then
		[ -n "${HOME:-}" ] || die "HOME is not set; pass --prefix DIR"
		prefix=$HOME/.local
	fi
	case $prefix in
	/*) ;;
	*) prefix=$PWD/$prefix ;;
	esac
	case $version in
	*[!A-Za-z0-9.+~-]*) usage "--version: invalid value \"$version\"" ;;
	esac
	if [ -n "$sha256" ]; then
		case $sha256 in
		*[!0-9a-f]*) usage "--sha256: use 64 digits of 0-9a-f" ;;
		esac
		[ "${#sha256}" -eq 64 ] || usage "--sha256: use 64 digits of 0-9a-f"
	fi
}

# Does the shell read this script from the file that $0 names? In a pipe $0 is the name of the shell, and the
# current folder may have a file that is called so.
reads_own_file()
{
	case $0 in
	*/* | *install.sh) ;;
	*) return 1 ;;
	esac
	[ -f "$0" ] || return 1
	for fd in "/proc/$$/fd/"*; do
		# shellcheck disable=SC3013
		[ "$fd" -ef "$0" ] && return 0
	done
	return 1
}

choose_source()
{
	if [ -z "$from" ] && reads_own_file && [ -f "$(dirname -- "$0")/SHA256SUMS" ]; then
		from=$(dirname -- "$0")
	fi
	[ -n "$from" ] || from=$default_url
	[ -n "$from" ] || die "nothing to install from; pass --from with the folder or the address of a release"
	from=${from%/}
	# A URL may carry a password, which must not get into a log.
	shown=$(printf '%s\n' "$from" | sed 's|://[^/]*@|://...@|')
	case $from in
	https://*) ;;
	http://localhost/* | http://localhost:* | http://127.0.0.1/* | http://127.0.0.1:*) ;;
	http://*)
		[ -n "$sha256" ] ||
			die "$shown: anybody on the way could change what http:// sends; use https://, or pass --sha256"
		;;
	*://*) die "$shown: use a folder, or an address that begins with https://" ;;
	*) [ -d "$from" ] || die "$from is not a folder" ;;
	esac
}

# fetch NAME: from the release to $work/NAME.
fetch()
{
	case $from in
	*://*)
		if command -v curl >/dev/null; then
			only='=https'
			case $from in
			http://*) only='=http,https' ;;
			esac
			curl -fsSL --proto "$only" --retry 3 --connect-timeout 30 \
				-o "$work/$1" "$from/$1"
		elif command -v wget >/dev/null; then
			# It follows a redirection to http://, and not each verifies certificates.
			[ -n "$sha256" ] || [ "${from#http://}" != "$from" ] ||
				die "curl is not installed, and wget may accept any server; install curl, or pass --sha256"
			wget -q -T 30 -O "$work/$1" "$from/$1"
		else
			die "neither curl nor wget is installed; download the release, then pass --from DIR"
		fi || die "cannot download $shown/$1"
		;;
	*) cp "$from/$1" "$work/$1" 2>/dev/null || die "cannot read $from/$1" ;;
	esac
}

# Sets $tarball, which is in $work and has the right checksum.
fetch_verified()
{
	[ "$(uname -s)" = Linux ] || die "agentbox runs on Linux only"
	case $(uname -m) in
	x86_64 | amd64) arch=x86_64 ;;
	aarch64 | arm64) arch=aarch64 ;;
	*) die "there is no agentbox for $(uname -m), only for x86_64 and aarch64" ;;
	esac
	command -v sha256sum >/dev/null || die "sha256sum is not installed, so nothing can be verified"

	fetch SHA256SUMS
	awk -v end="-linux-$arch.tar.gz" -v want="${version:+agentbox-$version-linux-$arch.tar.gz}" '
		NF == 2 && length($1) == 64 && $1 !~ /[^0-9a-f]/ && $2 !~ /[^A-Za-z0-9._+~-]/ &&
		$2 ~ /^agentbox-[0-9]/ && substr($2, length($2) - length(end) + 1) == end &&
		(want == "" || $2 == want)' "$work/SHA256SUMS" >"$work/chosen"
	case $(awk 'END { print NR }' "$work/chosen") in
	1) ;;
	0) die "$shown has no tarball of agentbox${version:+ $version} for $arch" ;;
	*) die "$shown has several versions for $arch; choose one with --version" ;;
	esac
	read -r sum tarball <"$work/chosen"
	if [ -n "$sha256" ] && [ "$sha256" != "$sum" ]; then
		die "$tarball has the checksum $sum in SHA256SUMS, not $sha256 as --sha256 wants; nothing was installed"
	fi
	fetch "$tarball"
	got=$(sha256sum <"$work/$tarball")
	[ "${got%% *}" = "$sum" ] ||
		die "$tarball is not what SHA256SUMS says (it has ${got%% *}); nothing was installed"
	say "installing $tarball from $shown in $prefix"
}

# owned_by_root DIR: root must not write where another user could exchange a
# folder for a link meanwhile. Always true for others, who risk only their own.
owned_by_root()
{
	[ -n "$is_root" ] || return 0
	# shellcheck disable=SC2012
	ls -ldn "$1" | awk '{ exit !($3 == 0 && ($1 ~ /^........-/ || $1 ~ /^.........[tT]/)) }'
}

# Make the prefix a path without links, all of which is root's.
trust_prefix()
{
	[ -n "$is_root" ] || return 0
	prefix=$(CDPATH='' cd -P -- "$prefix" && pwd)
	dir=$prefix
	while :; do
		owned_by_root "${dir:-/}" ||
			die "${dir:-/} belongs to another user, who could redirect what root writes; run this as that user, or choose another --prefix"
		[ -n "$dir" ] || break
		dir=${dir%/*}
	done
}

# make_dir DIR: below $prefix, with its parents; those that are new are noted.
make_dir()
{
	if [ -d "$prefix/$1" ]; then
		owned_by_root "$prefix/$1/." ||
			die "$prefix/$1 belongs to another user, who could redirect what root writes"
		return 0
	fi
	case $1 in
	*/*) make_dir "${1%/*}" ;;
	esac
	mkdir "$prefix/$1" 2>/dev/null || die "cannot create $prefix/$1${as_root}"
	printf '%s/\n' "$1" >>"$work/made"
}

# Also called when something failed or a signal came.
clean_up()
{
	status=$?
	set +e
	trap - EXIT
	trap '' HUP INT TERM
	if [ -n "$work" ]; then
		if [ "$state" = replacing ]; then
			while read -r file; do
				if [ ! -f "$work/old/$file" ]; then
					rm -f "$prefix/$file"
				elif ! cmp -s "$work/old/$file" "$prefix/$file" 2>/dev/null &&
					! mv -f "$work/old/$file" "$prefix/$file"; then
					say "cannot restore $prefix/$file; its old content is $work/old/$file"
					keep=1
				fi
			done <"$work/replaced"
		fi
		if [ "$state" != complete ]; then
			sed '1!G;h;$!d' "$work/made" | while read -r dir; do
				rmdir "$prefix/$dir" 2>/dev/null
			done
		fi
		[ -n "$keep" ] || rm -rf "$work"
	fi
	[ -z "$made_prefix" ] || [ "$state" = complete ] || rmdir "$prefix" 2>/dev/null
	exit "$status"
}

install_files()
{
	tree=$work/${tarball%.tar.gz}
	tar -C "$work" -xzf "$work/$tarball" || die "cannot unpack $tarball"
	[ -f "$tree/bin/agentbox" ] || die "$tarball has no bin/agentbox"
	built=$("$tree/bin/agentbox" version) ||
		die "the program in $tarball does not run here; nothing was installed"

	(cd "$tree" && find . -type f | sed 's|^\./||' | sort) >"$work/files"
	if [ -e "$prefix/bin/agentbox" ] && [ ! -f "$prefix/$list" ] && [ -z "$force" ]; then
		die "$prefix/bin/agentbox exists, and this script did not install it; remove it or pass --force"
	fi
	[ ! -f "$prefix/$list" ] || grep '/$' "$prefix/$list" >>"$work/made.before" || true
	echo "$list" >>"$work/files"
	while read -r file; do
		make_dir "${file%/*}"
		[ ! -d "$prefix/$file" ] || die "$prefix/$file is a folder"
		mkdir -p "$work/old/${file%/*}"
		[ ! -e "$prefix/$file" ] || cp -p "$prefix/$file" "$work/old/$file" ||
			die "cannot read $prefix/$file"
	done <"$work/files"
	sort -u "$work/made.before" "$work/made" | cat "$work/files" - >"$tree/$list"
	chmod 644 "$tree/$list"

	state=replacing
	while read -r file; do
		printf '%s\n' "$file" >>"$work/replaced"
		mv -f "$tree/$file" "$prefix/$file" || die "cannot write $prefix/$file${as_root}"
	done <"$work/files"
	state=complete
	# What an older version had and this one has not.
	if [ -f "$work/old/$list" ]; then
		grep -v '/$' "$work/old/$list" | grep -vxF -f "$work/files" | remove_files
	fi
}

# Remove the files that standard input lists.
remove_files()
{
	while read -r file; do
		case $file in
		'' | /* | .. | ../* | */.. | */../*) continue ;;
		esac
		[ -d "$prefix/${file%/*}" ] || continue
		owned_by_root "$prefix/${file%/*}/." ||
			die "$prefix/${file%/*} belongs to another user, who could redirect what root removes"
		rm -f "$prefix/$file" || die "cannot remove $prefix/$file${as_root}"
	done
}

remove_all()
{
	[ -f "$prefix/$list" ] ||
		die "$prefix has no agentbox that this script installed (no $list there)"
	trust_prefix
	[ -w "$prefix/bin" ] || die "cannot write to $prefix/bin${as_root}"
	dirs=$(grep '/$' "$prefix/$list" | sort -r || true)
	files=$(grep -v '/$' "$prefix/$list")
	printf '%s\n' "$files" | remove_files
	printf '%s\n' "$dirs" | while read -r dir; do
		case $dir in
		'' | /* | ../* | */../*) continue ;;
		esac
		rmdir "$prefix/$dir" 2>/dev/null || true	# others use it too
	done
	say "agentbox was removed from $prefix; settings and records of runs were kept"
}

advise()
{
	say "$built is installed: $prefix/bin/agentbox"
	case :$PATH: in
	*":$prefix/bin:"*)
		found=$(command -v agentbox || true)
		[ "$found" = "$prefix/bin/agentbox" ] ||
			say "note: \"agentbox\" runs $found, which comes first in PATH"
		;;
	*) say "note: $prefix/bin is not in PATH; add it:  PATH=$prefix/bin:\$PATH" ;;
	esac
	say "what this machine can enforce:  agentbox doctor"
}

main()
{
	umask 022
	LC_ALL=C
	export LC_ALL
	list=share/agentbox/installed-files
	work='' shown='' state='' keep='' made_prefix='' is_root='' as_root=''
	read_options "$@"
	if [ "$(id -u)" -eq 0 ]; then
		is_root=1
	else
		as_root="; for a folder of the system, run this as root"
	fi
	if [ -n "$uninstall" ]; then
		remove_all
		return
	fi
	choose_source
	case $from in
	*://* | /*) ;;
	*) from=$PWD/$from shown=$PWD/$shown ;;
	esac

	trap clean_up EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	if [ ! -d "$prefix" ]; then
		mkdir -p "$prefix" 2>/dev/null || die "cannot create $prefix${as_root}"
		made_prefix=1
	fi
	trust_prefix
	# Beside its destination, so that each file arrives by one rename.
	work=$(mktemp -d "$prefix/.agentbox-install.XXXXXX" 2>/dev/null) ||
		die "cannot write to $prefix${as_root}"
	: >"$work/made"
	: >"$work/made.before"
	: >"$work/replaced"
	fetch_verified
	install_files
	advise
}

main "$@"
