# unsanitized: it tests the packages for Python and Node; serve.bats tests the program
#
# The Python and Node packages in bindings/, with Debian's python3 and node
# (docs/python.md, docs/node.md).
load helpers

setup()
{
	box_setup
	mkdir "$HOME/bin"
	cp "$PROGRAM" "$HOME/bin/agentbox"
	export PATH=$HOME/bin:$PATH PYTHONPATH=$ROOT/bindings/python BINDING=$ROOT/bindings/node
	export PYTHONDONTWRITEBYTECODE=1
}

# python CLASS...: these classes of tests pass.
python()
{
	need program:curl
	run timeout 200 /usr/bin/python3 -X dev "$ROOT/test/bindings/test_python.py" "$@"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" != *ResourceWarning* ]]
}

# types: the folder of the checkers. Skips, whatever AB_NO_SKIP says, if the
# registry cannot be reached; nothing else is an excuse.
types()
{
	local why

	[ -n "${AB_TYPES:-}" ] || lacks "AB_TYPES is not set: run this file with scripts/suite"
	[ ! -x "$AB_TYPES/node_modules/.bin/tsc" ] || return 0
	why=$(cat "$AB_TYPES/failed")
	[[ "$why" != *"cannot be reached"* ]] || skip "$why"
	echo "TypeScript is not installed: $why"
	return 1
}

@test "python: runs, denials, caps, deadlines, and mistakes" {
	python Run Installation
}

@test "python: objects like Popen, questions, events, and updates" {
	python Process
}

@test "python: several at once, and nothing is left by any end" {
	python Shared Pools
}

@test "python: asyncio, and a task that is cancelled ends its box" {
	python Asyncio
}

@test "python: pip builds and installs the package" {
	need path:/usr/lib/python3/dist-packages/setuptools
	mkdir source
	cp -R "$ROOT/bindings/python/." source
	timeout 120 /usr/bin/python3 -m pip install --quiet --no-index --no-build-isolation --no-deps \
		--disable-pip-version-check --target "$PWD/installed" ./source
	[ -f installed/agentbox/py.typed ]
	run env PYTHONPATH="$PWD/installed" timeout 60 /usr/bin/python3 -c \
		'import agentbox; print(agentbox.__file__, agentbox.run(["echo", "hello"], text=True).stdout)'
	echo "$output"
	[[ "$output" == *"/installed/agentbox/__init__.py hello"* ]]
}

# bats test_tags=slow
@test "python: the hints are right" {
	types
	cp -R "$ROOT/bindings/python/agentbox" "$ROOT/test/bindings/use.py" .
	printf '{ "pythonVersion": "3.11", "reportUnnecessaryTypeIgnoreComment": true }' >pyrightconfig.json
	run timeout 150 "$AB_TYPES/node_modules/.bin/pyright" --pythonpath /usr/bin/python3 .
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "node: promises, streams, aborts, questions, and no end leaves anything" {
	need program:curl
	run timeout 200 node --test "$ROOT/test/bindings/test_node.mjs"
	echo "$output"
	[ "$status" -eq 0 ]
}

# bats test_tags=slow
@test "node: the TypeScript types are right" {
	types
	mkdir -p types/node_modules/@types
	cd types
	cp -R "$BINDING" node_modules/agentbox
	cp -R "$AB_TYPES/node_modules/@types/node" node_modules/@types
	cp -R "$AB_TYPES/node_modules/undici-types" node_modules
	cp "$ROOT/test/bindings/use.ts" .
	run timeout 150 "$AB_TYPES/node_modules/.bin/tsc" --noEmit --strict --module nodenext --target es2022 --types node use.ts
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "the packages have the version of the program" {
	local version

	version=$("$AGENTBOX" --version | sed -n '1s/^agentbox \([0-9.]*\).*/\1/p')
	[ -n "$version" ]
	grep -qxF "version = \"$version\"" "$ROOT/bindings/python/pyproject.toml"
	grep -qxF "VERSION = \"$version\"" "$ROOT/bindings/python/agentbox/_channel.py"
	[ "$(jq -r .version "$BINDING/package.json")" = "$version" ]
}
