# shared-proc-in-turn: certificates are shown differently
# Certificates that a box with a secret trusts: the host's bundles and keystores
# plus one certificate, and variables that name them. The host does not change.
# root-in-turn: files of root are trusted by other rules of ownership
UNJUDGED=1
load helpers
load attack/attack

setup()
{
	box_setup
	unset SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
	unset GIT_SSL_CAINFO CARGO_HTTP_CAINFO PIP_CERT DENO_CERT
	unset NODE_EXTRA_CA_CERTS JAVA_HOME
	export OPENAI_API_KEY=sk-made-up-for-the-tests-of-the-view
	bundle=$(find_bundle)
}

# The machine's own bundle, at the end of all links.
find_bundle()
{
	local path

	for path in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
		/etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
		[ ! -r "$path" ] || { readlink -f "$path"; return; }
	done
}

with_secret()
{
	agentbox_split run --secret OPENAI_API_KEY -- "$@"
}

@test "view: the bundle has one certificate more inside, and none on the host" {
	need path:"$bundle"
	cp "$bundle" before
	with_secret sh -c 'cat "$0" >inside' "$bundle"
	[ "$status" -eq 0 ]
	cmp "$bundle" before
	head -c "$(stat -c %s before)" inside | cmp - before
	[ "$(grep -c 'BEGIN CERTIFICATE' inside)" -eq $(($(grep -c 'BEGIN CERTIFICATE' before) + 1)) ]
	tail -c +$(($(stat -c %s before) + 1)) inside | openssl x509 -noout -ext basicConstraints |
		grep CA:TRUE
}

@test "view: without a secret it is the host's" {
	need path:"$bundle"
	agentbox run -- sh -c 'cat "$0" >inside; echo "${SSL_CERT_FILE:-unset}"
		[ -e /dev/agentbox-certs ] || echo none' "$bundle"
	[ "$status" -eq 0 ]
	cmp "$bundle" inside
	[ "$output" = $'unset\nnone' ]
}

@test "view: each variable names a file that is there" {
	with_secret sh -c '
		for name in SSL_CERT_FILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GIT_SSL_CAINFO \
			CARGO_HTTP_CAINFO PIP_CERT DENO_CERT NODE_EXTRA_CA_CERTS; do
			eval "file=\$$name"
			openssl x509 -in "$file" -noout && echo "$name"
		done
		openssl verify -CAfile "$SSL_CERT_FILE" "$NODE_EXTRA_CA_CERTS"
		grep -c BEGIN "$NODE_EXTRA_CA_CERTS"'
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 10 ]
	[[ "${lines[8]}" == *": OK" ]]
	[ "${lines[9]}" = 1 ]
}

@test "view: each run has an authority of its own" {
	with_secret sh -c 'cat $DENO_CERT'
	[ "$status" -eq 0 ]
	local first=$output
	with_secret sh -c 'cat $DENO_CERT'
	[ "$status" -eq 0 ]
	[ "$output" != "$first" ]
}

@test "view: the key of the authority is in no file" {
	local file
	# holds_key FILE: does it have the private key of one of our certificates, in any form?
	cat >"$TEST_DIR/holds_key" <<-'END'
	#!/bin/sh
	for form in PEM DER; do
		openssl pkey -inform $form -in "$1" -passin pass: -pubout 2>/dev/null
	done | grep -vE '^-----' | tr -d '\n' | grep -qF "$(cat "$TEST_DIR/public")"
	END
	chmod +x "$TEST_DIR/holds_key"
	export TEST_DIR
	public()
	{
		openssl x509 -in "$1" -noout -pubkey | grep -vE '^-----' | tr -d '\n' >"$TEST_DIR/public"
	}
	# The twin: a key that lies there is found.
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=own \
		-keyout "$TEST_DIR/own.key" -out "$TEST_DIR/own.pem" 2>/dev/null
	public "$TEST_DIR/own.pem"
	"$TEST_DIR/holds_key" "$TEST_DIR/own.key"
	touch "$TEST_DIR/before"
	launch run --secret OPENAI_API_KEY -- sh -c 'cat $DENO_CERT >ca.pem
		find /dev/agentbox-certs /tmp /run /dev/shm -type f -size -2048k -exec cp --backup=numbered -t . {} + 2>/dev/null
		echo up >up; while [ ! -e stop ]; do sleep 0.05; done' >"$TEST_DIR/out" 2>&1 3>&- &
	wait_for 90 test -e up
	public ca.pem
	[ -s "$TEST_DIR/public" ]
	# Other tests leave many files in the folders for all.
	find /tmp /var/tmp /dev/shm /run -maxdepth 2 -xdev -user "$(id -u)" -type f -size -32k \
		-newer "$TEST_DIR/before" 2>/dev/null >"$TEST_DIR/files" || true
	find "$TEST_DIR" -type f -size -2048k -newer "$TEST_DIR/before" >>"$TEST_DIR/files"
	grep -q ca.pem "$TEST_DIR/files"
	touch stop
	wait $!
	find "$AGENTBOX_STATE" -type f >>"$TEST_DIR/files"
	while read -r file; do
		! "$TEST_DIR/holds_key" "$file" || { echo "$file"; false; }
	done <"$TEST_DIR/files"
}

@test "view: one's own bundle stays, without the key that lies beside it" {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=corp \
		-keyout "$HOME/corp.pem" -out cert.pem 2>/dev/null
	cat cert.pem >>"$HOME/corp.pem"
	export SSL_CERT_FILE=$HOME/corp.pem
	with_secret sh -c 'cat "$SSL_CERT_FILE" >inside; cmp "$SSL_CERT_FILE" "$CURL_CA_BUNDLE"'
	[ "$status" -eq 0 ]
	[ "$(grep -c 'BEGIN CERTIFICATE' inside)" -eq 2 ]
	head -c "$(stat -c %s cert.pem)" inside | cmp - cert.pem
	run ! grep -q KEY inside
}

@test "view: the box cannot change it" {
	need path:"$bundle"
	with_secret sh -c '
		for file in "$0" "$SSL_CERT_FILE" "$DENO_CERT"; do
			(echo x >>"$file") || (chmod u+w "$file") || rm "$file" ||
				mv "$file" "$file.old" || echo "$file holds"
		done
		mv /dev/agentbox-certs /dev/other || umount "$0" || echo holds' "$bundle"
	[ "$status" -eq 0 ]
	expect <<-END
	$bundle holds
	/dev/agentbox-certs/ca-bundle.pem holds
	/dev/agentbox-certs/ca.pem holds
	holds
	END
}

@test "view: in a box without the host's files too" {
	need path:"$bundle"
	cat >"$HOME/strict.json" <<-JSON
	{ "filesystem": { "read": ["@system"] } }
	JSON
	agentbox_split run --config "$HOME/strict.json" --secret OPENAI_API_KEY -- \
		sh -c 'cmp "$0" "$SSL_CERT_FILE" && openssl verify "$DENO_CERT"' "$bundle"
	[ "$status" -eq 0 ]
	[[ "$output" == *": OK" ]]
}

# Java by its own files: it reads no variable.
@test "view: Java trusts it, by its keystore" {
	need program:keytool
	local store

	store=$(readlink -f "$(dirname "$(readlink -f "$(command -v keytool)")")/../lib/security/cacerts")
	sha256sum "$store" >before
	keytool -list -cacerts -storepass changeit >outside 2>/dev/null
	run ! grep -q ^agentbox, outside
	with_secret keytool -J-XX:TieredStopAtLevel=1 -list -cacerts -storepass changeit
	[ "$status" -eq 0 ]
	[[ "$output" == *$'\nagentbox, '*trustedCertEntry* ]]
	[ "$(grep -c trustedCertEntry <<<"$output")" -eq $(($(grep -c trustedCertEntry outside) + 1)) ]
	sha256sum -c before
}

@test "view: Java trusts it, where the keystore is of the other kind" {
	need program:keytool
	need path:"$bundle"
	export JAVA_HOME=$HOME/jdk
	mkdir -p "$JAVA_HOME/lib/security"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=x \
		-keyout key.pem -out cert.pem 2>/dev/null
	keytool -importcert -noprompt -storetype PKCS12 -storepass changeit -alias x \
		-file cert.pem -keystore "$HOME/store" 2>/dev/null
	ln -s "$HOME/store" "$JAVA_HOME/lib/security/cacerts"
	with_secret keytool -J-XX:TieredStopAtLevel=1 -list -storetype PKCS12 -storepass changeit \
		-keystore "$JAVA_HOME/lib/security/cacerts"
	[ "$status" -eq 0 ]
	[[ "$output" == *$'\nagentbox, '*trustedCertEntry* ]]
	[ "$(grep -c trustedCertEntry <<<"$output")" -eq $(($(grep -c 'BEGIN CERTIFICATE' "$bundle") + 1)) ]
}
