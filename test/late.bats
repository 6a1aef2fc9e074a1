# The tool that delays the relocations that only TLS needs.
# unsanitized: it works on a static build
load helpers

# late-relocations FILE MOST: what the build does with the linked program.
sort_out()
{
	run "$ROOT/scripts/late-relocations" --most "$2" "$1" out
	echo "$output"
}

# refused TEXT: with a reason, in one line, and nothing is left behind.
refused()
{
	[ "$status" -eq 1 ] || return 1
	[ "${#lines[@]}" -eq 1 ] || return 1
	[[ "$output" == "late-relocations: "*"$1"* ]] || return 1
	[ ! -e out ] && [ ! -e out.new ]
}

@test "late relocations: a program without any stays as it is" {
	local program=$ROOT/build/test/agentbox-no-tls

	[ -x "$program" ] || lacks "needs a static build"
	sort_out "$program" 1000000
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	cmp "$program" out
	[ -x out ]
}

@test "late relocations: too many that are left fail" {
	local program=$ROOT/build/test/agentbox-no-tls

	[ -x "$program" ] || lacks "needs a static build"
	sort_out "$program" 100
	refused "relocations at the start, 100 at most"
}

@test "late relocations: addresses of functions that can be written to are refused" {
	local program=$ROOT/build/test/agentbox-no-tls

	[ -x "$program" ] || lacks "needs a static build"
	# The size in memory of what is read-only after the start: none.
	python3 - "$program" file <<-'PYTHON'
	import struct, sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at, size, count = *struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54)
	for entry in range(at, at + size * count, size):
	    if struct.unpack_from("<I", data, entry)[0] == 0x6474E552:
	        struct.pack_into("<Q", data, entry + 40, 0)
	open(sys.argv[2], "wb").write(data)
	PYTHON
	sort_out file 1000000
	refused ".got is not read-only after the start"
}

@test "late relocations: another program takes the place of one that is not as it should be, with one line" {
	local program=$ROOT/build/test/agentbox-no-tls

	[ -x "$program" ] || lacks "needs a static build"
	echo plain >plain
	run "$ROOT/scripts/late-relocations" --most 100 --else plain "$program" out
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 1 ]
	[[ "$output" == "late-relocations: left out, the program starts slower: "*"relocations at the start, 100 at most"* ]]
	cmp plain out
	[ -x out ]

	run "$ROOT/scripts/late-relocations" --most 1000000 --else plain "$program" out
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	cmp "$program" out
}

@test "late relocations: what is no such program is refused" {
	sort_out missing 6000
	refused "No such file"
	echo text >file
	sort_out file 6000
	refused "not a 64-bit little-endian ELF"
	: >file
	sort_out file 6000
	refused "not a 64-bit little-endian ELF"
}

@test "late relocations: a program that is cut off is refused" {
	local size

	for size in 16 40 64 100 300 4096 100000; do
		head -c "$size" "$AGENTBOX" >file
		sort_out file 6000
		refused file
	done
}

@test "late relocations: the finished program is not sorted again" {
	local sections

	sections=$(readelf -SW "$AGENTBOX")
	[[ "$sections" == *" .agentbox.late "*" .data.late "* ]] ||
		lacks "needs a static build with TLS"
	sort_out "$AGENTBOX" 6000
	refused ".rela.dyn is not what is applied at the start"
}
