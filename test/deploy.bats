# unsanitized: it tests scripts and settings
load helpers
load release

# The files of deploy/: each is read as the program that it is for reads it, and
# what it runs is run.

# yaml FILE: as JSON, one document a line.
yaml()
{
	python3 -c '
import json, sys, yaml
for document in yaml.safe_load_all(open(sys.argv[1])):
    print(json.dumps(document))' "$1"
}

# action INPUT=VALUE...: run the steps of the GitHub Action as a runner does. Its
# folders are below $TEST_DIR/runner.
action()
{
	export GITHUB_ACTION_PATH=$ROOT/deploy/github GITHUB_SERVER_URL=https://code.example.org
	export RUNNER_TEMP=$TEST_DIR/runner GITHUB_WORKSPACE=$WORKSPACE
	export GITHUB_PATH=$RUNNER_TEMP/path GITHUB_OUTPUT=$RUNNER_TEMP/output
	export GITHUB_ENV=$RUNNER_TEMP/env
	mkdir -p "$RUNNER_TEMP"
	touch "$GITHUB_PATH" "$GITHUB_OUTPUT" "$GITHUB_ENV"
	run --separate-stderr timeout 240 python3 - "$GITHUB_ACTION_PATH/action.yml" "$@" 3>&- <<-'PY'
		import os, re, subprocess, sys, yaml
		action = yaml.safe_load(open(sys.argv[1]))
		assert action["runs"]["using"] == "composite" and action["name"] and action["description"]
		known = {f"inputs.{k}": v.get("default", "") for k, v in action["inputs"].items()}
		known |= {"github.action_repository": "owner/agentbox", "github.action_ref": "main"}
		for pair in sys.argv[2:]:
		    name, value = pair.split("=", 1)
		    assert name in known, name
		    known[name] = value
		fill = lambda text: re.sub(r"\$\{\{ *([a-z._0-9]+) *\}\}", lambda m: known[m[1]], text)
		for step in action["runs"]["steps"]:
		    # An expression in a script would be code in the hands of whoever fills an input.
		    assert "${{" not in step["run"], step
		    condition = step.get("if")
		    if condition:
		        name = re.fullmatch(r"(inputs\.\w+) != ''", condition)[1]
		        if known[name] == "":
		            continue
		    env = {k: fill(v) for k, v in step["env"].items()}
		    path = open(os.environ["GITHUB_PATH"]).read().split("\n")
		    search = ":".join([p for p in path if p] + [os.environ["PATH"]])
		    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
		                          env=os.environ | env | {"PATH": search}, cwd=os.environ["GITHUB_WORKSPACE"])
		    if done.returncode:
		        sys.exit(done.returncode)
	PY
	echo "$output"
	echo "$stderr"
}

@test "GitHub Action: installs, and runs the command in a box" {
	need userns
	serve "$RELEASE"
	action inputs.url="$URL" inputs.options=$'  --env A=b c\n\n--read-only ' inputs.run='echo "[$A]"; echo x >file'
	[ "$status" -ne 0 ]	# read-only
	[[ "$output" == *"[b c]"* ]]
	[ ! -e file ]
	action inputs.url="$URL" inputs.run='echo x >file; echo A=b >>"$GITHUB_ENV"; echo path=evil >>"$GITHUB_OUTPUT"; echo ::error::x; printf end; exit 3'
	[ "$status" -eq 3 ]
	[ "$(cat file)" = x ]
	# The files of the runner are outside, and lines for it are between these two.
	[ ! -s "$TEST_DIR/runner/env" ]
	[ "$(grep -c evil "$TEST_DIR/runner/output")" -eq 0 ]
	stop=$(sed -n 's/^::stop-commands:://p' <<<"$output" | tail -n 1)
	[ ${#stop} -eq 32 ]
	[[ "$output" == *"::stop-commands::$stop"*"::error::x"*$'\n'"::$stop::"* ]]
	grep -qxF "path=$TEST_DIR/runner/agentbox/bin/agentbox" "$TEST_DIR/runner/output"
	record=$(sed -n 's/^record=//p' "$TEST_DIR/runner/output" | tail -n 1)
	jq -es 'any(.kind == "start") and any(.kind == "end" and .status == 3)' "$record"
}

@test "GitHub Action: only installs when there is nothing to run; inputs are no code" {
	local sum
	read -r sum _ <"$RELEASE/SHA256SUMS"
	serve "$RELEASE"
	action inputs.url="$URL" inputs.sha256="$sum"
	[ "$status" -eq 0 ]
	[ "$(cat "$TEST_DIR/runner/path")" = "$TEST_DIR/runner/agentbox/bin" ]
	"$TEST_DIR/runner/agentbox/bin/agentbox" version
	action inputs.url="$URL" inputs.sha256="${sum//[0-9]/a}"
	[ "$status" -eq 1 ]
	action inputs.url='$(touch pwned); "; touch pwned; #'
	[ "$status" -eq 1 ]
	[ ! -e pwned ]
}

@test "GitHub Action: the runner does not obey what doctor quotes from the project" {
	serve "$RELEASE"
	echo '{ "::set-output name=path::/evil": 1 }' >.agentbox.json
	action inputs.url="$URL"
	[ "$status" -eq 0 ]
	[[ "$output" == *"/evil"* ]]
	stop=$(sed -n 's/^::stop-commands:://p' <<<"$output")
	[ ${#stop} -eq 32 ]
	# Nothing of it is before or behind the two lines.
	[[ "${output%%"::stop-commands::$stop"*}${output##*"::$stop::"}" != *"/evil"* ]]
	[[ "$output" == *$'\n'"::$stop::"* ]]
}

# A release whose program is this script, and a machine that restricts namespaces.
restricted_runner()
{
	printf '#!/bin/sh\n%s\n' "$1" >"$TEST_DIR/program"
	chmod +x "$TEST_DIR/program"
	"$ROOT/scripts/pack" "$TEST_DIR/program" "$(uname -m)" "$TEST_DIR/fake"
	cp "$ROOT/install.sh" "$TEST_DIR/fake"
	list_sums "$TEST_DIR/fake"
	mkdir -p "$TEST_DIR/bin"
	echo 'echo 1' >"$TEST_DIR/bin/sysctl"
	cat >"$TEST_DIR/bin/sudo" <<-SH
		echo "\$*" >>"$TEST_DIR/sudo"
		[ "\$2" != tee ] || cat >"$TEST_DIR/profile"
	SH
	sed -i '1i #!/bin/sh' "$TEST_DIR"/bin/*
	chmod +x "$TEST_DIR"/bin/*
	PATH=$TEST_DIR/bin:$PATH action inputs.url="$TEST_DIR/fake"
}

@test "GitHub Action: it adds an AppArmor profile where one is needed, and empties none" {
	restricted_runner '[ "$2" != --fix ] || echo "profile for $0"'
	[ "$status" -eq 0 ]
	[ "$(cat "$TEST_DIR/profile")" = "profile for $TEST_DIR/runner/agentbox/bin/agentbox" ]
	[ "$(cat "$TEST_DIR/sudo")" = "-n true
-n tee /etc/apparmor.d/agentbox-action
-n apparmor_parser -r /etc/apparmor.d/agentbox-action" ]
	# There is one already: doctor prints none, and fails.
	rm "$TEST_DIR/sudo"
	restricted_runner '[ "$2" != --fix ]'
	[ "$status" -eq 0 ]
	[ "$(cat "$TEST_DIR/sudo")" = "-n true" ]
}

@test "GitHub Action: without a version it says what to set; with a tag it knows the address" {
	action
	[ "$status" -eq 1 ]
	[[ "$output" == *'::error::'*'set its input "version" or "url"'* ]]
	mkdir "$TEST_DIR/bin"
	printf '#!/bin/sh\necho "curl $*" >&2; exit 22\n' >"$TEST_DIR/bin/curl"
	chmod +x "$TEST_DIR/bin/curl"
	PATH=$TEST_DIR/bin:$PATH action github.action_ref=v0.1.0
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"https://code.example.org/owner/agentbox/releases/download/v0.1.0/SHA256SUMS"* ]]
}

# gitlab SCRIPT [SHA256]: a job that extends the template, as a runner runs it.
gitlab()
{
	local template
	template=$(yaml "$ROOT/deploy/gitlab/agentbox.gitlab-ci.yml" | jq '.[".agentbox"]')
	export CI_PROJECT_DIR=$WORKSPACE
	AGENTBOX_STATE=$(jq -r .variables.AGENTBOX_STATE <<<"$template" |
		sed "s|\$CI_PROJECT_DIR|$CI_PROJECT_DIR|")
	export AGENTBOX_STATE AGENTBOX_PREFIX='' AGENTBOX_SHA256=${2:-}
	{ jq -r '.before_script[]' <<<"$template" && echo "$1"; } >"$TEST_DIR/script"
	jq -r '.after_script[]' <<<"$template" >"$TEST_DIR/after"
	run timeout 240 sh -eu "$TEST_DIR/script"
	echo "$output"
	if [ -x "$HOME/.local/bin/agentbox" ]; then
		timeout 60 sh -eu "$TEST_DIR/after"
	fi
}

@test "GitLab template: installs before the script, and keeps the records" {
	need userns
	serve "$RELEASE"
	AGENTBOX_URL=$URL gitlab 'agentbox run -- sh -c "echo x >file; echo y >agentbox-records.jsonl; exit 4"'
	[ "$status" -eq 4 ]
	[ "$(cat file)" = x ]
	[ -x "$HOME/.local/bin/agentbox" ]
	jq -es 'any(.kind == "end" and .status == 4)' agentbox-records.jsonl
	[ "$(yaml "$ROOT/deploy/gitlab/agentbox.gitlab-ci.yml" |
		jq -r '.[".agentbox"].artifacts.paths[]')" = agentbox-records.jsonl ]
}

@test "GitLab template: a link in place of the records leads nowhere" {
	need userns
	serve "$RELEASE"
	echo mine >"$HOME/file"
	AGENTBOX_URL=$URL gitlab 'agentbox run -- ln -s "$HOME/file" agentbox-records.jsonl
		test -L agentbox-records.jsonl
		echo other >"$AGENTBOX_STATE/other"'
	[ "$status" -eq 0 ]
	[ "$(cat "$HOME/file")" = mine ]
	[ ! -L agentbox-records.jsonl ]
	jq -es 'any(.kind == "end" and .status == 0)' agentbox-records.jsonl
	# The records of the job before are gone, and nothing else.
	AGENTBOX_URL=$URL gitlab true
	jq -es 'length == 0' agentbox-records.jsonl
	[ "$(cat "$AGENTBOX_STATE/other")" = other ]
}

@test "GitLab template: with a checksum, neither script nor tarball can be exchanged" {
	local sum file
	sum=$(sha256sum <"$RELEASE/SHA256SUMS")
	cp -r "$RELEASE" "$TEST_DIR/release"
	serve "$TEST_DIR/release"
	echo 'echo HOLE' >"$TEST_DIR/release/install.sh"
	AGENTBOX_URL=$URL gitlab 'echo HOLE' "${sum%% *}"
	[ "$status" -ne 0 ]
	[[ "$output" == *"is not what AGENTBOX_SHA256 says"* ]]
	# With sums that fit.
	list_sums "$TEST_DIR/release"
	AGENTBOX_URL=$URL gitlab 'echo HOLE' "${sum%% *}"
	[ "$status" -ne 0 ]
	[[ "$output" != *HOLE* ]]
	rm -r "$TEST_DIR/release"
	cp -r "$RELEASE" "$TEST_DIR/release"
	for file in "$TEST_DIR"/release/*.tar.gz; do
		echo x >>"$file"
	done
	AGENTBOX_URL=$URL gitlab 'echo HOLE' "${sum%% *}"
	[ "$status" -ne 0 ]
	[[ "$output" != *HOLE* ]]
	[ ! -e "$HOME/.local/bin/agentbox" ]
	rm -r "$TEST_DIR/release"
	cp -r "$RELEASE" "$TEST_DIR/release"
	AGENTBOX_URL=$URL gitlab 'agentbox version' "${sum%% *}"
	[ "$status" -eq 0 ]
}

@test "GitLab template: an address that anybody could change needs a checksum" {
	AGENTBOX_URL=http://files.example.com gitlab 'echo reached'
	[ "$status" -eq 1 ]
	[[ "$output" == *"AGENTBOX_URL must begin with https://"* ]]
}

@test "GitLab template: a job without the address of a release fails and says so" {
	AGENTBOX_URL='' gitlab 'echo reached'
	[ "$status" -eq 1 ]
	[[ "$output" == *"set AGENTBOX_URL"* ]]
	[[ "$output" != *reached* ]]
}

# unknown_fields FILE: fields that kubectl's types do not have, or read otherwise.
# hostUsers, and version v1 of CronJob, are newer than the kubectl of Debian 12.
unknown_fields()
{
	sed 's|^apiVersion: batch/v1$|apiVersion: batch/v1beta1|' "$1" >"$TEST_DIR/new.yaml"
	grep -q '^kind: CronJob' "$1" || cp "$1" "$TEST_DIR/new.yaml"
	timeout 60 kubectl set env --local -f "$TEST_DIR/new.yaml" -o json ADDED=1 >"$TEST_DIR/known.json"
	yaml "$TEST_DIR/new.yaml" | jq -r --slurpfile known "$TEST_DIR/known.json" '
		def leaves: [paths(scalars) as $p | { p: ($p | map(tostring) | join(".")), v: getpath($p) }];
		($known[0] | leaves | map({ (.p): .v }) | add) as $have |
		leaves[] | select(.p != "spec.hostUsers" and $have[.p] != .v) | .p'
}

@test "Kubernetes: kubectl knows every field of every file" {
	local file
	need program:kubectl
	for file in job cronjob agent; do
		[ -z "$(unknown_fields "$ROOT/deploy/kubernetes/$file.yaml")" ]
		[ -s "$TEST_DIR/known.json" ]
	done
	# A field that is not there is found.
	sed 's/runAsNonRoot/runAsNoRoot/' "$ROOT/deploy/kubernetes/job.yaml" >bad.yaml
	[ "$(unknown_fields bad.yaml)" = spec.template.spec.securityContext.runAsNoRoot ]
}

# pod FILE: the specification of its pod.
pod()
{
	yaml "$ROOT/deploy/kubernetes/$1.yaml" | jq '(.spec.jobTemplate.spec.template // .spec.template // .).spec'
}

@test "Kubernetes: every pod is closed except for what its engine needs" {
	local file
	for file in job cronjob agent; do
		pod $file | jq -e '.automountServiceAccountToken == false and .enableServiceLinks == false and
			.securityContext.runAsNonRoot and (has("hostNetwork") or has("hostPID") | not) and
			([.containers[], (.initContainers // [])[]] | map(.securityContext |
				.allowPrivilegeEscalation == false and .capabilities == { drop: ["ALL"] }) | all) and
			# Folders of these volumes can be written by everyone: single files only.
			([.containers[].volumeMounts[] | select(.name == "settings" or .name == "keys") |
				has("subPath") and .readOnly] | length == 2 and all) and
			([.volumes[].name] - [(.containers + (.initContainers // []))[].volumeMounts[].name] == [])'
	done
	for file in job cronjob; do
		pod $file | jq -e '.securityContext.seccompProfile.type == "Unconfined" and (has("hostUsers") | not)'
	done
	pod agent | jq -e '.hostUsers == false and .containers[0].securityContext.procMount == "Unmasked"'
}

@test "Kubernetes: the settings are valid, and name the file that each pod mounts" {
	local file
	yaml "$ROOT/deploy/kubernetes/settings.yaml" | jq -r '.data["config.json"]' >config.json
	agentbox config check config.json
	[ "$status" -eq 0 ]
	for file in job cronjob agent; do
		pod $file | jq -e --slurpfile config config.json '.containers[0] |
			([.volumeMounts[].mountPath] | index($config[0].secrets.ANTHROPIC_API_KEY.file)) and
			(.env | map(.name) | index("AGENTBOX_CONFIG") and index("AGENTBOX_STATE") and index("HOME"))'
	done
}

# in_pod FILE: run the command of its container with the settings of the test. The
# paths of the pod are below $TEST_DIR/pod.
in_pod()
{
	local -a command
	local base=$TEST_DIR/pod

	mkdir -p "$base"/{work/home,work/state,records,etc/agentbox,run/agentbox/keys}
	chmod 700 "$base/work/state"
	printf sk-ant-api03-0123456789abcdefghij >"$base/run/agentbox/keys/anthropic"
	yaml "$ROOT/deploy/kubernetes/settings.yaml" | jq -r '.data["config.json"]' |
		sed "s|/run/agentbox|$base/run/agentbox|" >"$base/etc/agentbox/config.json"
	cp -r "$WORKSPACE" "$base/work/project"
	mapfile -t command < <(pod "$1" | jq -r '.containers[0].command[]' |
		sed "s|\$(POD_NAME)|pod-1|; s|/records/|$base/records/|")
	cd "$base/work/project"
	HOME=$base/work/home AGENTBOX_STATE=$base/work/state AGENTBOX_CONFIG=$base/etc/agentbox/config.json \
		PATH=${AGENTBOX%/*}:$PATH run --separate-stderr timeout 240 "${command[@]}"
	echo "$stderr"
}

@test "Kubernetes: a job's record is on standard output, its command on standard error" {
	need userns
	printf 'test:\n\t@echo said; echo $$ANTHROPIC_API_KEY; cat %s; true\n' \
		"$TEST_DIR/pod/run/agentbox/keys/anthropic" >Makefile
	in_pod job
	[ "$status" -eq 0 ]
	[[ "$stderr" == *said*sk-ant-* ]]
	[[ "$output$stderr" != *0123456789abcdefghij* ]]
	jq -es 'any(.kind == "start") and any(.kind == "end" and .status == 0)' <<<"$output"
}

@test "Kubernetes: a nightly run leaves its record on the volume, which the box cannot change" {
	need userns
	printf 'audit:\n\techo forged >>%s\n' "$TEST_DIR/pod/records/pod-1.jsonl" >Makefile
	in_pod cronjob
	[ "$status" -eq 2 ]
	[[ "$stderr" == *"Read-only file system"* ]]
	jq -es 'any(.kind == "end" and .status == 2)' "$TEST_DIR/pod/records/pod-1.jsonl"
}
