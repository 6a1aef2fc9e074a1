# unsanitized: the tools take longer than everything that the program does
# Package managers, compilers and others on a fresh account: they work, and the host's
# home folder is the same afterwards, byte by byte.
UNJUDGED=1
load helpers

snapshot()
{
	host_snapshot "$HOME" | grep -v '^[^ ]* *\./project/\|^\./project '
}

unchanged()
{
	diff "$TEST_DIR/before" <(snapshot)
}

@test "home tools: npm, git, sqlite and a shell work on a fresh account" {
	need program:npm
	mkdir -p "$HOME/pkg" dep
	echo '{ "name": "dep", "version": "1.0.0", "bin": "x.js" }' >dep/package.json
	echo '#!/usr/bin/env node' >dep/x.js
	echo '{ "name": "p", "version": "1.0.0", "dependencies": { "dep": "file:./dep.tgz" } }' >package.json
	tar -czf dep.tgz --transform 's/^dep/package/' dep
	snapshot >"$TEST_DIR/before"
	agentbox_split run --net blocked -- sh -c '
		npm install --no-audit --no-fund --offline && rm -r node_modules && npm ci --no-audit --no-fund --offline && ls node_modules &&
		[ -d ~/.npm/_cacache ] && git config --global user.name Other && git config --global user.name'
	[ "$status" -eq 0 ]
	[[ "$output" == *dep* ]]
	[[ "$output" == *Other ]]
	[ -d node_modules/dep ]
	unchanged
	agentbox_split run -- bash -c 'set -o history; HISTFILE=~/.bash_history; history -s one; history -w; cat ~/.bash_history'
	[ "$output" = one ]
	agentbox_split run -- python3 -c '
import sqlite3, os
for mode in "delete", "wal":
    c = sqlite3.connect(os.path.expanduser("~/%s.db" % mode)); c.execute("pragma journal_mode=" + mode)
    c.execute("create table t (x)"); c.execute("insert into t values (1)"); c.commit(); print(list(c.execute("select * from t")))'
	[ "$output" = $'[(1,)]\n[(1,)]' ]
	unchanged
}

@test "home tools: pip installs a wheel for the user" {
	need program:python3
	python3 -c 'import pip'
	python3 - <<-'PYTHON'
	import zipfile
	with zipfile.ZipFile("tiny-1.0-py3-none-any.whl", "w") as z:
	    z.writestr("tiny.py", "print('tiny works')\n")
	    z.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
	    z.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
	    z.writestr("tiny-1.0.dist-info/RECORD", "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/RECORD,,\n")
	PYTHON
	snapshot >"$TEST_DIR/before"
	agentbox_split run --net blocked -- sh -c '
		python3 -m pip install -q --no-index --user --break-system-packages ./tiny-1.0-py3-none-any.whl 2>pip.err ||
		python3 -m pip install -q --no-index --user ./tiny-1.0-py3-none-any.whl; python3 -m tiny'
	[ "$output" = "tiny works" ]
	unchanged
}

@test "home tools: cargo builds" {
	need runs:cargo
	mkdir -p src
	printf '[package]\nname = "p"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
	echo 'fn main() { println!("built"); }' >src/main.rs
	snapshot >"$TEST_DIR/before"
	agentbox_split run --net blocked -- sh -c 'cargo run -q --offline && [ -d ~/.cargo ]'
	[ "$status" -eq 0 ]
	[ "$output" = built ]
	unchanged
}

@test "home tools: go builds" {
	need program:go
	printf 'module p\ngo 1.18\n' >go.mod
	printf 'package main\nfunc main() { println("built") }\n' >main.go
	snapshot >"$TEST_DIR/before"
	agentbox_split run --net blocked -- go run .
	[ "$status" -eq 0 ]
	[[ "$stderr" == *built* ]]
	unchanged
}

@test "home tools: mvn validates" {
	need program:mvn
	cat >pom.xml <<-'XML'
	<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>
	XML
	snapshot >"$TEST_DIR/before"
	# Java takes the home folder from the list of users.
	agentbox_split run --net blocked -- sh -c 'MAVEN_OPTS=-Duser.home=$HOME mvn -o -q validate && ls -d ~/.m2'
	[ "$status" -eq 0 ]
	[[ "$output" == *"$HOME/.m2" ]]
	# Without a layer variables move it, for every version of Maven.
	agentbox_split run --net blocked -- "$AGENTBOX" run -- sh -c 'mvn -o -q validate && ls -d /dev/shm/agentbox-home/.m2'
	[ "$status" -eq 0 ]
	unchanged
}
