# `agentbox log` reads the records of real runs, and records that were made for
# the test, damaged and hostile ones among them.
UNJUDGED=1
load helpers
load internet
load attack/attack

# folder ID [live]: the folder of a run that was never there.
folder()
{
	local dir=$AGENTBOX_STATE/${2:-runs}/$1

	mkdir -p -m 700 "$dir"
	echo "$dir"
}

# line KIND SECOND [MEMBERS]: a record of run $run, at that second.
line()
{
	printf '{"timestamp":"2026-01-31T12:00:%02d.000Z","run_id":"%s","kind":"%s"%s}\n' \
		"$2" "${run:-aaaaa}" "$1" "${3:+,$3}"
}

start='"command":["make","test"],"cwd":"/work","policy":{"profile":"default"}'
passed='"id":null,"domain":"www.x.test","port":443,"path":"/a","method":"GET","status":200,"allowed":true,"bytes_up":512,"bytes_down":62464,"ms":120'
denied='"id":"aaaaa-1","domain":"y.test","port":443,"path":null,"method":null,"status":null,"allowed":false,"rule":"network.allow","door":"connect","bytes_up":0,"bytes_down":0,"ms":0,"reason":"not on the allow list","hint":"agentbox run --allow y.test -- ..."'

# A record with one of everything.
everything()
{
	line start 0 "$start"
	line assurance 0 '"holds":["user-ns","net-fence"],"missing":"limits"'
	line request 1 "$passed"
	line request 2 "$passed,\"error\":\"it did not answer in time\""
	line violation 3 "$denied,\"process\":[{\"pid\":3,\"exe\":\"/usr/bin/curl\",\"argv\":[\"curl\"]}]"
	line request 3 '"id":"aaaaa-1","domain":"y.test","port":443,"status":403,"allowed":false,"bytes_up":10,"bytes_down":20,"ms":1'
	line violation 4 "$denied,\"repeated\":40"
	line exec 5 '"id":"aaaaa-e1","command":"git push --force","by":"sh","allowed":false,"decision":"escalated","rule":"history-rewrite","reason":"Rewrites history."'
	line violation 6 '"id":"aaaaa-f1","door":"file","path":"/etc/x","access":"write","call":"openat","allowed":false,"rule":"filesystem.write","reason":"not in a writable folder"'
	line violation 7 '"id":"aaaaa-2","domain":null,"protocol":"udp","packets":12,"allowed":false,"rule":"network.mode","reason":"only TCP connections leave the box"'
	line question 8 '"id":"aaaaa-3","domain":"z.test","port":80,"answer":"once","by":"terminal","waiting":1,"ms":3200,"process":[]'
	line grant 9 '"entry":"z.test:80","allowed":true,"by":"control","for_ms":600000'
	line reload 10 '"changes":["+ w.test allowed"],"error":null'
	line monitor 11 '"threshold":"denialsPerMinute","value":101,"limit":100,"action":"warn","domain":null'
	line secret 12 '"name":"TOKEN","event":"failed","reason":"the source fails"'
	line program 13 '"path":"/usr/bin/make"'
	line continued 14 '"before":"audit.1.jsonl","removed":"audit.2.jsonl"'
	line end 15 '"status":2,"ms":15000,"requests_allowed":2,"requests_denied":41'
}

@test "log: a run says what it did, what it was refused and how it ended" {
	box_python --allow origin.test <<-'END'
	say("passed", forward("origin.test", path="/bytes/5000?token=hidden"))
	say("refused", forward("other.test", path="/x"))
	END
	[ "$status" -eq 0 ]
	agentbox_split log
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[[ "${lines[0]}" =~ ^20[0-9-]{8}\ [0-9:]{8}\ \ start\ +python3\ .*script.py\ \ in\ .*,\ profile\ default$ ]]
	[[ "${lines[1]}" == *"  proved   "*"net-fence"* ]]
	grep -qE '  ok +GET origin.test:80/bytes/5000  200  (.* up  )?.* KiB down  [0-9.]+ m?s$' <<<"$output"
	grep -qE '  denied +other.test:80  not on the allow list .*[a-z0-9]{5}-1$' <<<"$output"
	[ "$(grep -c other.test <<<"$output")" -eq 1 ]
	[[ "${lines[-1]}" == *"  end      exit 0 after "*"; 1 request, 1 denied" ]]
	[[ "$output" != *hidden* ]]
	# By its id, and as it stands there.
	id=$(basename "$(dirname "$(audit_file)")")
	agentbox_split log "$id" --json
	[ "$status" -eq 0 ]
	[ "$output" = "$(cat "$(audit_file)")" ]
	agentbox log --json --denied
	[ "$(jq -r .domain <<<"$output" | sort -u)" = other.test ]
	agentbox log --json --allowed
	[ "$(jq -r '"\(.kind) \(.domain)"' <<<"$output")" = "request origin.test" ]
	agentbox log --stats
	[ "$status" -eq 0 ]
	[[ "${lines[0]}" =~ ^HOST\ +REQUESTS\ +UP\ +DOWN\ +DENIED$ ]]
	[[ "${lines[1]}" =~ ^origin.test\ +1\ +.*[0-9.]+\ KiB\ +0\ \ \#+$ ]]
	[[ "${lines[2]}" =~ ^other.test\ +0\ .*\ 1$ ]]
	[[ "$output" != *$'\e'* ]]
}

@test "log: every kind of record is one readable line" {
	dir=$(folder aaaaa)
	everything >"$dir/audit.jsonl"
	TZ=UTC agentbox_split log
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	output=$(sed 's/^2026-01-31 12:00://' <<<"$output")
	expect <<-'END'
	00  start    make test  in /work, profile default
	00  proved   user-ns net-fence; missing limits
	01  ok       GET www.x.test:443/a  200  512 B up  61 KiB down  120 ms
	02  failed   GET www.x.test:443/a  200  512 B up  61 KiB down  120 ms  it did not answer in time
	03  denied   y.test:443  not on the allow list  by curl, pid 3  aaaaa-1
	04  denied   y.test:443  not on the allow list  and 40 more times  aaaaa-1
	05  denied   git push --force  rewrites history  by sh  aaaaa-e1
	06  denied   write /etc/x  not in a writable folder  aaaaa-f1
	07  denied   12 udp packets  only TCP connections leave the box  aaaaa-2
	08  asked    z.test:80  allowed once on the terminal, after 3.2 s
	09  grant    z.test:80  allowed for 10m from another terminal
	10  reload   + w.test allowed
	11  monitor  denialsPerMinute  101, the limit is 100  action warn
	12  secret   TOKEN  failed: the source fails
	13  program  /usr/bin/make
	14  file     the record continues in the next file; audit.2.jsonl was removed
	15  end      exit 2 after 15.0 s; 2 requests, 41 denied
	END
}

@test "log: by host, verdict and time" {
	dir=$(folder aaaaa)
	everything >"$dir/audit.jsonl"
	export TZ=UTC
	agentbox log --host www.x.test
	[ "${#lines[@]}" -eq 2 ]
	agentbox log --host '*.x.test'
	[ "${#lines[@]}" -eq 2 ]
	agentbox log --host x.test
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	agentbox log --host z.test
	[ "${#lines[@]}" -eq 2 ]
	agentbox log --denied --json
	[ "${#lines[@]}" -eq 6 ]
	agentbox log --allowed --json
	[ "$(jq -r .kind <<<"$output" | xargs)" = "request request grant" ]
	agentbox log --since 2026-01-31T12:00:13Z
	[ "${#lines[@]}" -eq 3 ]
	agentbox log --since '2026-01-31 12:00' --until 2026-01-31T14:00:01+02:00
	[ "${#lines[@]}" -eq 2 ]
	agentbox log --since 10m
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	agentbox log --until 10m --denied --host y.test --json
	[ "${#lines[@]}" -eq 3 ]
}

@test "log: the table counts what a line stands for" {
	dir=$(folder aaaaa)
	everything >"$dir/audit.jsonl"
	agentbox_split log --stats --json
	[ "$status" -eq 0 ]
	jq -e '.requests == 2 and .failed == 1 and .denied == 44 and .programs_denied == 1 and
		.files_denied == 1 and .packets_denied == 12 and .bytes_up == 1034 and .lost == 0 and .records == 18' <<<"$output"
	jq -e '.hosts | map([.host, .requests, .denied]) == [["www.x.test", 2, 0], ["y.test", 0, 42]]' <<<"$output"
	agentbox log --stats
	[[ "$output" == *"12 non-TCP packets were denied"* ]]
	[[ "$output" == *"1 program was denied"* ]]
	agentbox_split log --stats --json --host y.test
	jq -e '.requests == 0 and .denied == 42' <<<"$output"
}

@test "log: the newest run, one by its name, and all of them" {
	dir=$(folder aaaaa)
	line start 1 "$start" >"$dir/audit.jsonl"
	dir=$(folder bbbbb)
	run=bbbbb line start 3 "$start,\"name\":\"mine\"" >"$dir/audit.jsonl"
	dir=$(folder ccccc)
	run=ccccc line start 2 "$start" >"$dir/audit.jsonl"
	folder ddddd
	agentbox_split log --json
	[ "$(jq -r .run_id <<<"$output")" = bbbbb ]
	agentbox_split log mine --json
	[ "$(jq -r .run_id <<<"$output")" = bbbbb ]
	agentbox_split log --all --json
	[ "$(jq -r .run_id <<<"$output" | xargs)" = "aaaaa ccccc bbbbb" ]
	agentbox_split log --all
	[[ "${lines[0]}" == *"  aaaaa  start  "* ]]
	agentbox log ddddd
	[ "$status" -eq 1 ]
	[[ "$output" == *"no run named ddddd"* ]]
	agentbox log ../runs/aaaaa
	[ "$status" -eq 1 ]
}

@test "log: --list has a line for each run, the newest first, and -n bounds it and the lines" {
	run=aaaaa
	{
		line start 0 "$start,\"name\":\"old\""
		line end 9 '"status":3,"ms":9100,"requests_denied":2,"files_denied":1'
	} >"$(folder aaaaa)/audit.jsonl"
	run=bbbbb
	{
		line start 10 '"command":["sh","-c","x\u001b[2J"],"cwd":"/work"'
		line end 20 '"status":124,"ms":100000,"timed_out":true,"requests_denied":0'
	} >"$(folder bbbbb)/audit.jsonl"
	run=eeeee
	{
		line start 25 "$start"
		line end 28 '"error":"the supervisor was killed"'
	} >"$(folder eeeee)/audit.jsonl"
	run=ccccc
	line start 30 "$start" >"$(folder ccccc)/audit.jsonl"
	run=ddddd
	line refused 40 '"command":["rm","-rf","/"],"reason":"no","rule":"x"' >"$(folder ddddd)/audit.jsonl"
	TZ=UTC agentbox log --list
	[ "$status" -eq 0 ]
	diff - <(echo "$output") <<-'END'
	BOX    NAME  START                 TIME  RESULT   DENIED  COMMAND
	ddddd  -     2026-01-31 12:00:40      -  refused       -  rm -rf /
	ccccc  -     2026-01-31 12:00:30      -  killed        -  make test
	eeeee  -     2026-01-31 12:00:25      -  killed        0  make test
	bbbbb  -     2026-01-31 12:00:10  1m40s  timeout       0  sh -c 'x\x1b[2J'
	aaaaa  old   2026-01-31 12:00:00   9.1s  exit 3        3  make test
	END
	agentbox log --list -n 2 --json
	jq -e 'map(.id) == ["ddddd", "ccccc"] and .[1].command == ["make", "test"]' <<<"$output"
	agentbox log --list --json
	jq -e '.[2] | .id == "eeeee" and .result == "killed" and .status == null' <<<"$output"
	agentbox log --list --until 2026-01-31T12:00:05Z --json
	jq -e 'length == 1 and .[0].name == "old"' <<<"$output"
	agentbox log --all -n 2 --json
	[ "$(jq -r .run_id <<<"$output" | tr '\n' ' ')" = "ccccc ddddd " ]
	agentbox log aaaaa -n 1
	[[ "${#lines[@]}" -eq 1 && "$output" == *"exit 3"* ]]
	agentbox log aaaaa -n 100 && [ "${#lines[@]}" -eq 2 ]
	need userns
	box_start run --name now -- sleep 300
	wait_for 60 eval '"$AGENTBOX" log --list -n 1 --json | grep -q \"active\"'
	agentbox stop now
	box_end
	agentbox log --list -n 1 --json
	jq -e '.[0].result == "exit" and .[0].status == 143' <<<"$output"
}

@test "log: mistakes are said" {
	agentbox log
	[ "$status" -eq 1 ]
	[[ "$output" == "agentbox: no run has left a record yet" ]]
	for args in '--since yesterday' '--denied --allowed' '-f --stats' 'a b' '--all x' \
		'--until 2026-02-30' '--html x --stats' '--host https://x.test/' \
		'--host x.test:80' '-n 0' '-n x' '-n 1 --stats' '--list --denied' '--list -f' \
		'--list aaaaa'; do
		# shellcheck disable=SC2086
		agentbox log $args
		[ "$status" -eq 2 ]
	done
}

@test "log: text from the box cannot reach the terminal as it is" {
	dir=$(folder aaaaa)
	{
		line start 0 '"command":["sh","-c","\u001b[2J\u202e"],"cwd":"/w\u0007","policy":{}'
		line request 1 '"id":null,"domain":"x\u001b]0;t\u0007","port":1,"path":"/\u009b\u200b","method":"G\u0008","status":1,"allowed":true,"bytes_up":0,"bytes_down":0,"ms":1'
		line violation 2 '"id":"aaaaa-f1\u001b","door":"file","path":"/\r\n\u2028x","access":"write","allowed":false,"reason":"\u001b[1m"'
		line 'a\u001bkind' 3 '"x":"\u001b[31m"'
		printf '{"timestamp":"2026","kind":"request","domain":"raw\x1b[1m"}\n'
		printf '{"timestamp":"2026","kind":"exec","id":"x","command":"\xff\xfe\xc2\x9b"}\n'
	} >"$dir/audit.jsonl"
	for args in '' --stats --all "--html $TEST_DIR/page" --json; do
		# shellcheck disable=SC2086
		agentbox log $args
		[ "$status" -eq 0 ]
		! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\xae\xa8\x8b]|\xc2[\x80-\x9f]' <<<"$output" ||
			[ "$args" = --json ]
		! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]' <<<"$output" || false
	done
	! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xe2\x80[\xae\xa8\x8b]|\xc2[\x80-\x9f]' "$TEST_DIR/page" || false
}

@test "log: a torn line is passed over, and files come in their order" {
	dir=$(folder aaaaa)
	line start 0 "$start" >"$dir/audit.1.jsonl"
	line request 1 "$passed" >>"$dir/audit.1.jsonl"
	line request 2 "$passed" >"$dir/audit.10.jsonl"
	line request 3 "$passed" >"$dir/audit.jsonl"
	line request 4 "$passed" | head -c 100 >>"$dir/audit.jsonl"
	agentbox_split log
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 4 ]
	[ "$(cut -c 18-19 <<<"$output" | xargs)" = "00 01 02 03" ]
	[[ "$stderr" == *"skipped 1 damaged or overlong line of the record"* ]]
	agentbox_split log --stats --json
	jq -e '.requests == 3 and .lost == 1' <<<"$output"
}

@test "log: a supervisor that is killed while it writes leaves a record that can be read" {
	door_script <<-'END'
	import itertools
	for i in itertools.count():
	    forward("n%d.test" % (i % 50))
	END
	box_start run --allow origin.test -- python3 "$SCRIPT"
	wait_for 90 eval '[ "$(cat "$AGENTBOX_STATE"/live/*/audit.jsonl 2>/dev/null | wc -l)" -gt 200 ]'
	kill -KILL "$BOX"
	box_end || true
	wait_for 90 eval '[ -n "$(ls "$AGENTBOX_STATE/runs")" ]'
	agentbox_split log
	[ "$status" -eq 0 ]
	[[ "${lines[-1]}" == *"  end      the supervisor was killed"* ]]
	[ "$(grep -c '  denied ' <<<"$output")" -gt 100 ]
	agentbox why last
	[ "$status" -eq 0 ]
	[[ "$output" == "agentbox denied n"* ]]
}

@test "log: what is torn when all is killed does not spoil the last word" {
	agentbox run -- true
	[ "$status" -eq 0 ]
	run=$(ls "$AGENTBOX_STATE/runs")
	dir=$AGENTBOX_STATE/live/$run
	mv "$AGENTBOX_STATE/runs/$run" "$dir"
	sed -i '$d' "$dir/audit.jsonl"
	line violation 1 "${denied/aaaaa/$run}" >>"$dir/audit.jsonl"
	line request 2 "$passed" | head -c 90 >>"$dir/audit.jsonl"
	# The next start sweeps.
	agentbox run -- true
	[ "$status" -eq 0 ]
	agentbox_split log "$run"
	[ "${#lines[@]}" -eq 4 ]
	[[ "${lines[-1]}" == *"  end      all processes of the run were killed"* ]]
	[[ "$stderr" == *"skipped 1 damaged or overlong line of the record"* ]]
	agentbox why "$run-1"
	[ "$status" -eq 0 ]
	[[ "$output" == "agentbox denied y.test:443: not on the allow list"* ]]
}

@test "log: -f follows a run to its end" {
	mkfifo go
	box_start run --allow origin.test -- sh -c 'read x <go; curl -s http://other.test/ >/dev/null; exit 7'
	wait_for 90 eval '[ -n "$(cat "$AGENTBOX_STATE"/live/*/audit.jsonl 2>/dev/null)" ]'
	"$AGENTBOX" log -f >"$TEST_DIR/follow" 2>&1 3>&- &
	follower=$!
	wait_for 90 grep -q '  proved  ' "$TEST_DIR/follow"
	kill -0 "$follower"
	echo >go
	box_end
	[ "$status" -eq 7 ]
	status=0
	wait "$follower" || status=$?
	cat "$TEST_DIR/follow"
	[ "$status" -eq 0 ]
	grep -q '  denied   other.test:80  not on the allow list' "$TEST_DIR/follow"
	tail -n 1 "$TEST_DIR/follow" | grep -q '  end      exit 7 '
	# One that has ended is read and that is all.
	agentbox log -f
	[ "$status" -eq 0 ]
	[ "$output" = "$(cat "$TEST_DIR/follow")" ]
}

@test "log: -f goes on through files that are full, and into runs/" {
	dir=$(folder aaaaa live)
	line start 0 "$start" >"$dir/audit.jsonl"
	# Somebody holds the lock as a run does.
	exec 8<"$dir"
	flock -x 8
	"$AGENTBOX" log -f aaaaa >"$TEST_DIR/follow" 2>&1 3>&- 8>&- &
	follower=$!
	wait_for 90 grep -q '  start  ' "$TEST_DIR/follow"
	line request 1 "$passed" >>"$dir/audit.jsonl"
	mv "$dir/audit.jsonl" "$dir/audit.1.jsonl"
	line request 2 "$passed" >"$dir/audit.jsonl"
	wait_for 90 grep -q '12:00:02\|:02  ok' "$TEST_DIR/follow"
	mv "$AGENTBOX_STATE/live/aaaaa" "$AGENTBOX_STATE/runs/aaaaa"
	line end 3 '"status":0,"ms":1' >>"$AGENTBOX_STATE/runs/aaaaa/audit.jsonl"
	status=0
	wait "$follower" || status=$?
	exec 8<&-
	cat "$TEST_DIR/follow"
	[ "$status" -eq 0 ]
	[ "$(cut -c 18-19 "$TEST_DIR/follow" | xargs)" = "00 01 02 03" ]
}

@test "log: -f ends when everybody is gone, also without a last record; Ctrl-C ends it, too" {
	dir=$(folder aaaaa live)
	line start 0 "$start" >"$dir/audit.jsonl"
	exec 8<"$dir"
	flock -x 8
	"$AGENTBOX" log -f aaaaa >"$TEST_DIR/follow" 2>&1 3>&- 8>&- &
	follower=$!
	wait_for 90 grep -q '  start  ' "$TEST_DIR/follow"
	tty_start "$AGENTBOX" log -f aaaaa
	tty_wait 'start'
	tty_key C-c
	tty_end
	[ "$status" -eq 130 ]
	kill -0 "$follower"
	flock -u 8
	exec 8<&-
	wait "$follower"
}

@test "log: colour on a terminal, and not with NO_COLOR" {
	dir=$(folder aaaaa)
	everything >"$dir/audit.jsonl"
	tty_start "$AGENTBOX" log
	tty_end
	tty_tmux capture-pane -p -e -S - >"$TEST_DIR/screen"
	LC_ALL=C grep -q $'\e\\[31m.*y.test' "$TEST_DIR/screen"
	! LC_ALL=C grep -q $'\e\\[31m.*www.x.test' "$TEST_DIR/screen" || false
	tty_stop
	tty_start env NO_COLOR=1 "$AGENTBOX" log
	tty_end
	tty_tmux capture-pane -p -e -S - >"$TEST_DIR/screen"
	! LC_ALL=C grep -q $'\e\\[31m' "$TEST_DIR/screen" || false
}

# parse PAGE: every tag is closed, and all that is there is what we know.
parse()
{
	python3 - "$1" <<-'END'
	import sys
	from html.parser import HTMLParser
	void = {"meta"}
	known = {"html", "head", "title", "style", "body", "main", "header", "footer", "section", "h1", "h2", "p", "b",
	    "dl", "dt", "dd", "div", "ul", "li", "span", "svg", "g", "rect", "line", "table", "caption", "thead", "tbody",
	    "tr", "th", "td", "time", "code", "details", "summary", "meta"}
	attributes = {"lang", "charset", "http-equiv", "content", "name", "class", "style", "datetime", "scope", "colspan",
	    "role", "aria-label", "viewbox", "preserveaspectratio", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "open", "data-name"}
	class Page(HTMLParser):
	    def __init__(self):
	        super().__init__(convert_charrefs=True)
	        self.stack, self.text, self.count = [], [], {}
	    def handle_starttag(self, tag, attrs):
	        assert tag in known, tag
	        names = [name for name, _ in attrs]
	        assert len(names) == len(set(names)) and set(names) <= attributes, names
	        for name, value in attrs:
	            assert not (value or "").lower().startswith("javascript:")
	            assert name != "style" or value.startswith("width:"), value
	        self.count[tag] = self.count.get(tag, 0) + 1
	        if tag not in void:
	            self.stack.append(tag)
	    def handle_endtag(self, tag):
	        assert self.stack.pop() == tag, tag
	    def handle_data(self, data):
	        self.text.append(data)
	    def handle_comment(self, data):
	        raise AssertionError(data)
	page = Page()
	page.feed(open(sys.argv[1], encoding="utf-8").read())
	page.close()
	assert not page.stack, page.stack
	assert page.count["h1"] == 1 and page.count.get("caption", 0) == page.count.get("table", 0)
	print("\n".join(page.text))
	END
}

@test "log: --html is one whole page with what happened" {
	dir=$(folder aaaaa)
	everything >"$dir/audit.jsonl"
	agentbox log --html "$TEST_DIR/page.html"
	[ "$status" -eq 0 ]
	[ "$(stat -c %a "$TEST_DIR/page.html")" = 600 ]
	grep -q "default-src 'none'; style-src 'unsafe-inline'" "$TEST_DIR/page.html"
	run ! grep -qiE '<script|https?://|@import|url\(' "$TEST_DIR/page.html"
	run parse "$TEST_DIR/page.html"
	echo "$output"
	[ "$status" -eq 0 ]
	for text in 'make test' 'www.x.test' 'aaaaa-1' 'agentbox allow aaaaa-1' 'git push --force' 'not in a writable folder' \
		'denialsPerMinute' 'missing: limits' 'once' 'z.test:80'; do
		grep -qF "$text" <<<"$output"
	done
	grep -qF '<title>make test - agentbox run aaaaa</title>' "$TEST_DIR/page.html"
	# A run that has ended is not changed, and no answer opens a private address.
	grep -qF '<code>agentbox allow aaaaa-1 --always</code>' "$TEST_DIR/page.html"
	line violation 3 "$denied" | sed 's/"aaaaa-1"/"aaaaa-9"/; s/"rule":"[^"]*"/"rule":"network.allowPrivate"/' >"$TEST_DIR/private"
	sed -i -e "4r $TEST_DIR/private" -e '/"kind":"end"/d' "$dir/audit.jsonl"
	agentbox log --html "$TEST_DIR/page.html"
	grep -qF '<code>agentbox allow aaaaa-1</code>' "$TEST_DIR/page.html"
	grep -qF 'aaaaa-9' "$TEST_DIR/page.html"
	run ! grep -qF 'agentbox allow aaaaa-9' "$TEST_DIR/page.html"
	[ "$(grep -oF '>Remedy<' "$TEST_DIR/page.html" | wc -l) $(grep -oE '"Remedy"|How to' "$TEST_DIR/page.html" | sort -u)" = '1 "Remedy"' ]
	grep -qF 'y.test<span class="port">:443</span>' "$TEST_DIR/page.html"
	# It replaces what is there, whole, and no other file is left.
	agentbox log --html "$TEST_DIR/page.html"
	[ "$status" -eq 0 ]
	[ "$(ls "$TEST_DIR" | grep -c '^page.html')" -eq 1 ]
	agentbox log --html "$TEST_DIR/no/page.html"
	[ "$status" -eq 1 ]
	agentbox_split log --html -
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	cmp - "$TEST_DIR/page.html" <<<"$output"
	[ ! -e - ]
}

@test "log: nothing from the box is more than text on the page" {
	dir=$(folder aaaaa)
	evil='\"><script>alert(1)</script><img src=x onerror=alert(1)>'"'"'\u202e\u0000\u001b]&lt;&#60;</style></title>-->'
	{
		line start 0 "\"command\":[\"$evil\"],\"cwd\":\"$evil\",\"name\":\"$evil\",\"policy\":{\"profile\":\"$evil\"}"
		line assurance 0 "\"holds\":[\"$evil\"],\"missing\":\"$evil\""
		line request 1 "\"id\":null,\"domain\":\"$evil\",\"port\":443,\"path\":\"$evil\",\"method\":\"$evil\",\"status\":200,\"allowed\":true,\"error\":\"$evil\",\"bytes_up\":1,\"bytes_down\":2,\"ms\":-3"
		line violation 2 "\"id\":\"aaaaa-1\",\"domain\":\"$evil\",\"port\":443,\"allowed\":false,\"rule\":\"$evil\",\"reason\":\"$evil\",\"hint\":\"$evil\",\"process\":[{\"pid\":1,\"exe\":\"$evil\",\"argv\":[\"$evil\"]}]"
		line exec 3 "\"id\":\"aaaaa-e1\",\"command\":\"$evil\",\"by\":\"$evil\",\"rule\":\"$evil\",\"reason\":\"$evil\",\"allowed\":false"
		line violation 4 "\"id\":\"aaaaa-f1\",\"door\":\"file\",\"path\":\"$evil\",\"access\":\"$evil\",\"allowed\":false"
		line question 5 "\"id\":\"aaaaa-2\",\"domain\":\"$evil\",\"answer\":\"$evil\",\"by\":\"$evil\",\"ms\":-1,\"process\":[{\"exe\":\"$evil\"}]"
		line grant 6 "\"entry\":\"$evil\",\"by\":\"$evil\""
		printf '{"timestamp":"%s","run_id":"%s","kind":"%s"}\n' "$evil" "$evil" "$evil"
		line end 9 '"status":-5,"ms":"x"'
	} >"$dir/audit.jsonl"
	agentbox log --html "$TEST_DIR/page.html"
	[ "$status" -eq 0 ]
	run parse "$TEST_DIR/page.html"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ "$output" == *'"><script>alert(1)</script><img src=x onerror=alert(1)>'"'"'\xe2\x80\xae'* ]]
}
