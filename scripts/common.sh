# Shared by the scripts here: paths, packages and builds. Source it, do not run
# it.
#
# Nothing here repeats work: apt is called only for packages that dpkg does not
# list, and a finished build directory costs one call of ninja.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# Build directories are in the source tree, or in the user's cache if the tree
# is not writable. AB_OUT chooses another place.
if [ -z "${AB_OUT:-}" ]; then
	AB_OUT=$ROOT
	[ -w "$ROOT" ] || AB_OUT=${XDG_CACHE_HOME:-$HOME/.cache}/agentbox-build
fi
mkdir -p "$AB_OUT"
AB_OUT=$(cd "$AB_OUT" && pwd -P)

case $(uname -m) in
aarch64)
	cross_arch=x86_64 cross_deb=amd64
	cross_packages="gcc-x86-64-linux-gnu libc6-dev-amd64-cross"
	;;
x86_64)
	cross_arch=aarch64 cross_deb=arm64
	cross_packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
	;;
*)
	cross_arch='' cross_deb='' cross_packages=''
	;;
esac

# Debian packages, one word each. "package/program" accepts a program of that
# name in a system folder instead, wherever it came from. (A program in a home
# folder does not count: the tests run as another user.) The last two are for the
# static libcrypto of newer distributions.
build_packages="
	gcc libc6-dev meson/meson ninja-build/ninja python3/python3
	pkg-config/pkg-config
	libseccomp-dev libjansson-dev libc-ares-dev libssl-dev libnghttp2-dev
	libsodium-dev libnl-3-dev
	zlib1g-dev libzstd-dev
"
test_packages="
	bats/bats git/git curl/curl make/make nodejs/node npm/npm
	default-jdk-headless/javac maven/mvn cargo/cargo golang-go/go
	python3-pip python3-setuptools python3-wheel python3-venv sqlite3/sqlite3 tmux/tmux
	vim/vim less/less gdb/gdb strace/strace procps/ps util-linux/setpriv
	iproute2/ip jq/jq gojq/gojq clang/clang libclang-rt-dev mandoc/mandoc
	zsh/zsh fish/fish attr/setfattr binutils/readelf
	nginx-light/nginx openssh-server/sshd openssh-client/ssh
	redis-server/redis-server redis-tools/redis-cli wget/wget
	bindfs/bindfs xfsprogs/mkfs.xfs btrfs-progs/mkfs.btrfs bubblewrap/bwrap musl-tools/musl-gcc openssl/openssl $cross_packages
	slurmctld/slurmctld slurmd/slurmd slurm-client/sbatch
	debhelper/dh dpkg-dev/dpkg-buildpackage lintian/lintian
	podman/podman runc/runc crun/crun uidmap/newuidmap kubernetes-client/kubectl python3-yaml
	python3-boto3 python3-google-auth python3-grpcio valgrind/valgrind
"
format_packages="clang-format-14/clang-format-14"
# For scripts/release.
release_packages="
	npm/npm nodejs/node debhelper/dh dpkg-dev/dpkg-buildpackage
	git/git make/make binutils/strip python3-pip python3-setuptools python3-wheel
"

say()
{
	printf '%s\n' "$*" >&2
}

die()
{
	say "$(basename "$0"): $*"
	exit 1
}

# Without a terminal nobody can answer sudo, so it must not ask.
sudo=sudo
[ -t 0 ] || sudo="sudo -n"

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		$sudo "$@"
	fi
}

can_be_root()
{
	[ "$(id -u)" -eq 0 ] && return 0
	command -v sudo >/dev/null && as_root true 2>/dev/null
}

# A link into a home folder does not count either.
have_program()
{
	local dir

	for dir in /usr/local/bin /usr/local/sbin /usr/bin /usr/sbin /bin /sbin; do
		case $(readlink -f "$dir/$1") in
		/root/* | /home/*) continue ;;
		esac
		[ -x "$dir/$1" ] && return 0
	done
	return 1
}

# Print the packages that are not installed and have no replacement.
missing_packages()
{
	local word installed

	installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' |
		sed -n 's/^installed //p')
	for word in "$@"; do
		case $word in
		*/*) have_program "${word#*/}" && continue ;;
		esac
		grep -qxF -- "${word%/*}" <<<"$installed" || printf '%s ' "${word%/*}"
	done
}

install_packages()
{
	local missing log

	command -v dpkg-query >/dev/null ||
		die "no dpkg here; install these yourself: ${*%/*}"
	missing=$(missing_packages "$@")
	[ -n "$missing" ] || return 0

	say "installing $missing"
	can_be_root || die "needs root for that; run:  apt-get install $missing"
	log=$(as_root timeout 1800 env DEBIAN_FRONTEND=noninteractive fresh="$lists_fresh" sh -c '
		opts="-q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3"
		# The tests start their own servers; installing a package
		# must not start one.
		policy=/usr/sbin/policy-rc.d
		if [ ! -e $policy ]; then
			trap "rm -f $policy" EXIT
			printf "#!/bin/sh\nexit 101\n" >$policy
			chmod 755 $policy
		fi
		# If a source is unreachable, the old lists still work.
		[ -n "$fresh" ] || apt-get $opts update
		apt-get $opts install --no-install-recommends "$@"
	' sh $missing </dev/null 2>&1) || {
		say "$log"
		die "apt-get could not install $missing"
	}
	lists_fresh=1
}
lists_fresh=

# Every version formats differently, and not every distribution has ours: then
# scripts/check-format is skipped.
install_formatter()
{
	(install_packages $format_packages) ||
		! apt-cache policy ${format_packages%/*} | grep -q 'Candidate: [^(]'
}

# Seconds until `deadline`, a value of SECONDS that the caller may set.
time_left()
{
	local left=$((${deadline:-SECONDS + 3600} - SECONDS))

	echo $((left > 1 ? left : 1))
}

# build_in NAME SETUP-OPTION...: set up once, then build what changed. The
# options are stored in the build directory; if they change, it is set up again.
# A caller that can wait sets `gentle`, a nice value; one that does not need
# everything sets `targets`.
build_in()
{
	local dir=$AB_OUT/$1
	shift

	if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/.setup" 2>/dev/null)" != "${CC:-} $*" ]; then
		if [ -f "$dir/meson-private/coredata.dat" ]; then
			set -- --wipe "$@"
		fi
		timeout "$(time_left)" meson setup "$@" "$dir" "$ROOT" </dev/null || return
		[ "$1" != --wipe ] || shift
		printf '%s\n' "${CC:-} $*" >"$dir/.setup"
	fi
	timeout "$(time_left)" nice -n "${gentle:-0}" ninja -C "$dir" ${targets:-}
}

# Is what nearly every file includes parsed once? ccache cannot keep what such a build makes, unless it is
# told so.
common_headers()
{
	[ -n "${CCACHE_DISABLE:-}" ] || ! command -v ccache >/dev/null && echo true || echo false
}

# A warning is an error, unless the caller sets `werror`.
build_release()
{
	build_in build -Dwerror="${werror:-true}" -Db_pch="$(common_headers)"
}

# The other compiler, for its warnings too. Reports need line numbers, but no
# variables. The checks of every pointer (is it null, aligned, of an object so large)
# end the program without a report: to report takes a quarter of the build; to optimize
# would take half of it. Nearly every object waits for the generators, which are sanitized too:
# looking for leaks would take each of them some seconds. Where it is installed, gold
# links in half the time. AB_UNITS names the unit tests that are built; without it, all are.
build_asan()
{
	local linker='' targets=fuzzed name

	[ -n "${AB_UNITS+set}" ] || targets="all meson-test-prereq"
	for name in ${AB_UNITS:-}; do
		targets="$targets test/unit/unit-$name"
	done
	! command -v ld.gold >/dev/null || linker=-fuse-ld=gold
	ASAN_OPTIONS=detect_leaks=0 CC=clang build_in build-asan -Dwerror=true \
		-Db_pch="$(common_headers)" -Dfuzz=true \
		--buildtype=plain -Doptimization=0 \
		-Dc_args="-gline-tables-only -fsanitize-trap=null,alignment,object-size" \
		-Dc_link_args="$linker" -Db_sanitize=address,undefined -Db_lundef=false
}

build_cross()
{
	local sysroot=$AB_OUT/build-sysroot-$cross_deb setup=$AB_OUT/build-$cross_arch/.setup

	timeout "$(time_left)" "$ROOT/scripts/sysroot" "$cross_deb" "$sysroot" || return
	# Other libraries, other options.
	[ ! "$sysroot/meson.ini" -nt "$setup" ] || rm -f "$setup"
	build_in "build-$cross_arch" -Dwerror=true \
		--cross-file "$ROOT/cross/$cross_arch.ini" \
		--cross-file "$sysroot/meson.ini"
}

# What cmd/meson.build calls the build.
build_id()
{
	git -C "$ROOT" describe --always --abbrev=8 --dirty --match no-tag-has-this-name \
		2>/dev/null || echo release
}

project_version()
{
	sed -n "s/^ *version : '\(.*\)',$/\1/p" "$ROOT/meson.build" | head -n 1
}

# The time that packed files get, the same for every build of a commit: that of the
# commit, or without the repository that of the version.
source_time()
{
	[ -z "${SOURCE_DATE_EPOCH:-}" ] || { echo "$SOURCE_DATE_EPOCH" && return; }
	git -C "$ROOT" log -1 --format=%ct 2>/dev/null ||
		date -d "$(sed -n 's/^ -- .*>  //p' "$ROOT/debian/changelog" | head -n 1)" +%s
}

# What the cross build, the release files and the packages are made of, besides the
# sources themselves: how they are built, packed and installed, and what differs
# between the machines.
shipped_inputs()
{
	{
		git -C "$ROOT" ls-files -- meson.build meson_options.txt lib/meson.build cmd/meson.build 'cmd/*.ld' \
			cross debian install.sh deploy share man completions bindings scripts/common.sh \
			scripts/embed scripts/late-relocations scripts/mantext.py scripts/judge-tables \
			'scripts/pack*' scripts/release scripts/sysroot 'scripts/check-[crs]*'
		git -C "$ROOT" grep -lE '__x86_64__|__aarch64__' -- lib cmd
	} | LC_ALL=C sort -u
}

# test/shipped is what shipped_inputs had when all of it was built and checked last.
shipped_hash()
{
	(cd "$ROOT" && shipped_inputs | tr '\n' '\0' | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)
}

shipped_as_recorded()
{
	[ "$(cat "$ROOT/test/shipped" 2>/dev/null)" = "$(shipped_hash)" ]
}
