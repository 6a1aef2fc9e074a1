#!/bin/bash
# How fast a host is that is looked into: one big answer, and new connections
# with a leaf that is there already, beside the least that could do it
# (tls_relay.c: two legs of the same library, no HTTP, nothing swapped). The
# two take turns, so that what else the machine does hits both. Prints medians
# and ratios; fails when a ratio is below its bar.
#
#   test/bench/intercept.sh AGENTBOX [ROUNDS] [SECONDS]
#
# AGENTBOX is a release build. Needs nginx, a compiler, the TLS library's
# headers, and namespaces (as root, or where users may make them).
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
program=$(realpath "$1")
rounds=${2:-7}
seconds=${3:-2}
host=api.openai.com
megabytes=512

# In a network and mounts of its own, with a way out to nowhere.
if [ -z "${INTERCEPT_INSIDE:-}" ]; then
	own=(unshare --net --mount)
	[ "$(id -u)" -eq 0 ] || own+=(--user --map-current-user --keep-caps)
	work=$(mktemp -d "${AB_TEST_DIR:-/tmp}/intercept.XXXXXX")
	chmod 755 "$work"
	status=0
	INTERCEPT_INSIDE=$work "${own[@]}" -- bash "$0" "$@" || status=$?
	rm -rf --one-file-system "$work"
	exit "$status"
fi

work=$INTERCEPT_INSIDE
cd "$work"
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || :; wait' EXIT

for tool in tls_relay tls_load; do
	cc -O2 -D_GNU_SOURCE -o "$tool" "$here/$tool.c" -lssl -lcrypto
done

# The origin has an address that is not the host's own: no box may reach one.
ip link set lo up
ip address add 192.0.2.7/32 dev lo
ip route add local 203.0.113.0/24 dev lo
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
printf '127.0.0.1 localhost\n203.0.113.10 %s\n' "$host" >hosts
mount --bind hosts /etc/hosts

# One root; what it vouches for is the origin's, and the relay's.
ec=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)
{
	openssl req -x509 "${ec[@]}" -keyout ca.key -out ca.pem -days 2 \
		-subj '/CN=Bench' -addext 'basicConstraints=critical,CA:TRUE'
	for name in origin relay; do
		openssl req "${ec[@]}" -keyout "$name.key" -out "$name.csr" \
			-subj "/CN=$name"
		openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key \
			-CAcreateserial -days 2 -out "$name.pem" \
			-extfile <(echo "subjectAltName=DNS:$host")
	done
} >openssl.log 2>&1
export SSL_CERT_FILE=$work/ca.pem

mkdir www logs home project
mount -t tmpfs -o "size=$((megabytes + 16))m" www www
head -c "${megabytes}M" /dev/zero >www/big
head -c 1k /dev/zero >www/small
cat >nginx.conf <<-END
	daemon off;
	master_process off;
	pid $work/logs/pid;
	error_log $work/logs/error.log;
	events { worker_connections 4096; }
	http {
		access_log off;
		client_body_temp_path $work/logs/body;
		proxy_temp_path $work/logs/proxy;
		fastcgi_temp_path $work/logs/fastcgi;
		uwsgi_temp_path $work/logs/uwsgi;
		scgi_temp_path $work/logs/scgi;
		server {
			listen 203.0.113.10:443 ssl backlog=4096;
			ssl_certificate $work/origin.pem;
			ssl_certificate_key $work/origin.key;
			root $work/www;
		}
	}
END
nginx -c "$work/nginx.conf" >logs/nginx.log 2>&1 &
pids+=($!)
./tls_relay 8443 relay.pem relay.key 203.0.113.10 443 "$host" \
	>logs/relay.log 2>&1 &
pids+=($!)
for at in 203.0.113.10/443 127.0.0.1/8443; do
	for ((i = 0; ; i++)); do
		(: <>"/dev/tcp/$at") 2>/dev/null && break
		((i < 100)) || {
			cat logs/*
			exit 1
		}
		sleep 0.05
	done
done

export HOME=$work/home OPENAI_API_KEY=sk-made-up-for-this-measurement-only
unset HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy

# one WHO WHAT: a number.
one()
{
	local -a args=(bulk "$host" 443 /big)

	[ "$2" = bulk ] || args=(connections "$host" 443 /small "$seconds")
	case $1 in
	direct) ./tls_load "${args[@]}" ;;
	relay)
		args[2]=8443
		CONNECT_TO=127.0.0.1 ./tls_load "${args[@]}"
		;;
	agentbox)
		"$program" run --workspace "$work/project" --secret OPENAI_API_KEY -- \
			"$work/tls_load" "${args[@]}" 2>>logs/agentbox.log
		;;
	esac
}

median()
{
	sort -g | awk '{ v[NR] = $1 } END {
		print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

failed=0
# compare WHAT UNIT BAR
compare()
{
	local i who ratio

	for ((i = 0; i < rounds; i++)); do
		for who in direct relay agentbox; do
			one "$who" "$1" >>"$1.$who" || {
				echo "$who: $1 failed" >&2
				tail -n 5 logs/agentbox.log >&2 || :
				exit 1
			}
		done
	done
	for who in direct relay agentbox; do
		printf '%-12s %-10s %10.1f %s\n' "$1" "$who" \
			"$(median <"$1.$who")" "$2"
	done
	# The median of the rounds' ratios: each is of neighbours in time.
	ratio=$(paste "$1.agentbox" "$1.relay" | awk '{ print $1 / $2 }' | median)
	printf '%-12s agentbox is %.2f of the relay (at least %s)\n' \
		"$1" "$ratio" "$3"
	awk "BEGIN { exit !($ratio < $3) }" && failed=1
	return 0
}

compare bulk MB/s 0.8
compare connections /s 0.9
exit "$failed"
