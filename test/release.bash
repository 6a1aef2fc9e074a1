# For the files that install a release: one is made for each file, from the program
# that is tested. RELEASE is its folder.

setup_file()
{
	export SOURCE_DATE_EPOCH=1700000000
	export RELEASE=$BATS_FILE_TMPDIR/release

	"$ROOT/scripts/pack" "$AGENTBOX" "$(uname -m)" "$RELEASE"
	cp "$ROOT/install.sh" "$RELEASE"
	list_sums "$RELEASE"
}

teardown()
{
	[ -z "${SERVER:-}" ] || kill "$SERVER" || true
	box_teardown
}

list_sums()
{
	(cd "$1" && sha256sum -- *.tar.gz install.sh >SHA256SUMS)
}

# serve DIR: over HTTP; sets URL.
serve()
{
	# shellcheck disable=SC2016
	python3 -u - "$1" >"$TEST_DIR/port" 2>/dev/null 3>&- <<-'PY' &
		import functools, http.server, sys
		handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
		print(server.server_address[1])
		server.serve_forever()
	PY
	SERVER=$!
	wait_for 60 test -s "$TEST_DIR/port"
	URL=http://127.0.0.1:$(cat "$TEST_DIR/port")
}
