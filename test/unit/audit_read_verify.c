/* Chains: whole ones, and every way in which one can be changed. */
#include "audit/read/verify.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/read/reader.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "audit/write/seal.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/data/strv.h"
#include "base/system/fd.h"
#include "tap.h"

static char folder[] = "/tmp/agentbox-verify.XXXXXX";
static struct ab_seal seal;
static struct ab_error err;

static int make_dir(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	mkdir(path, 0700);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void write_run(int dir, const char *run, size_t requests, uint64_t size, bool end)
{
	struct ab_log_setup setup = { .dir = dir, .run_id = run, .size = size, .seal = &seal };
	ab_autobuf struct ab_buf line = { 0 };
	struct ab_log log;

	ok(ab_log_open(&setup, &log, &err) == 0, "a record is begun");
	ab_record_open(&line, run, "start");
	ab_log_write(&log, &line, &err);
	for (size_t i = 0; i < requests; i++) {
		ab_record_open(&line, run, "request");
		ab_record_number(&line, "number", (int64_t)i);
		ab_log_write(&log, &line, &err);
	}
	ab_record_open(&line, run, "end");
	ab_record_number(&line, "status", 0);
	if (end)
		ab_log_end(&log, &line, &err);
	ab_log_fini(&log);
}

static struct ab_chain_verdict last;
static size_t verdicts;

static void keep(void *arg, const struct ab_chain_verdict *verdict)
{
	(void)arg;
	last = *verdict;
	verdicts++;
}

static struct ab_keys known(void)
{
	struct ab_keys keys = { 0 };

	ab_keys_add(&keys, seal.key);
	return keys;
}

static enum ab_chain_state verify_dir(int dir)
{
	struct ab_keys keys = known();
	struct ab_verifier *v = ab_verifier_new(&keys, true, keep, NULL);
	char file[AB_READER_NAME];
	struct ab_reader r;
	const char *line;
	size_t len;

	last = (struct ab_chain_verdict){ 0 };
	if (ab_reader_open(dir, &r, &err) == 0) {
		while (ab_reader_next(&r, &line, &len, &err) > 0) {
			uint64_t number = ab_reader_place(&r, file);

			ab_verifier_add(v, file, number, line, len);
		}
		ab_reader_fini(&r);
	}
	ab_verifier_end(v, false);
	ab_keys_fini(&keys);
	return last.state;
}

/* The same lines in one file that may have many runs. */
static enum ab_chain_state verify_lines(const struct ab_strv *lines, bool single)
{
	struct ab_keys keys = known();
	struct ab_verifier *v = ab_verifier_new(&keys, single, keep, NULL);

	verdicts = 0;
	last = (struct ab_chain_verdict){ 0 };
	for (size_t i = 0; i < lines->len; i++)
		ab_verifier_add(v, "", i + 1, lines->v[i], strlen(lines->v[i]));
	ab_verifier_end(v, false);
	ab_keys_fini(&keys);
	return last.state;
}

static void read_lines(int dir, struct ab_strv *ret)
{
	struct ab_reader r;
	const char *line;
	size_t len;

	ab_reader_open(dir, &r, &err);
	while (ab_reader_next(&r, &line, &len, &err) > 0)
		ab_strv_give(ret, ab_strndup(line, len));
	ab_reader_fini(&r);
}

static void test_changes(void)
{
	ab_autoclose int dir = make_dir("changes"), other = make_dir("other");
	ab_autostrv struct ab_strv lines = { 0 }, theirs = { 0 }, both = { 0 };
	size_t broken = 0, tried = 0;

	write_run(dir, "aaaaa", 4, 0, true);
	write_run(other, "bbbbb", 1, 0, true);
	ok(verify_dir(dir) == AB_CHAIN_WHOLE && last.lines == 6, "a record is whole");
	is_str(last.run, "aaaaa", "its run is named");
	read_lines(dir, &lines);
	read_lines(other, &theirs);
	/* Every byte of it, but for its last line's end. */
	for (size_t i = 0; i < lines.len; i++)
		for (char *p = lines.v[i]; *p; p++) {
			char was = *p;

			*p = was == 'x' ? 'y' : 'x';
			broken += verify_lines(&lines, true) != AB_CHAIN_WHOLE;
			*p = was;
			tried++;
		}
	ok(broken == tried, "%zu of %zu bytes are covered", broken, tried);
	for (size_t i = 0; i < lines.len; i++) {
		ab_autostrv struct ab_strv less = { 0 };

		for (size_t k = 0; k < lines.len; k++)
			if (k != i)
				ab_strv_add(&less, lines.v[k]);
		ok(verify_lines(&less, true) != AB_CHAIN_WHOLE, "line %zu cannot be removed", i);
		ok(verify_lines(&less, false) != AB_CHAIN_WHOLE, "nor in a copy");
	}
	ok(verify_lines(&lines, false) == AB_CHAIN_WHOLE && verdicts == 1, "a copy is whole");
	/* Two runs that wrote to one copy at once. */
	for (size_t i = 0; i < lines.len; i++) {
		ab_strv_add(&both, lines.v[i]);
		if (i < theirs.len)
			ab_strv_add(&both, theirs.v[i]);
	}
	ok(verify_lines(&both, false) == AB_CHAIN_WHOLE && verdicts == 2, "two runs in one copy");
	ok(verify_lines(&both, true) == AB_CHAIN_BROKEN, "but not in the record of one");
	is_str(last.why, "it belongs to another run", "with the reason");
}

/* Members behind the signature would not be signed. */
static void test_added(void)
{
	ab_autoclose int dir = make_dir("added");
	ab_autostrv struct ab_strv lines = { 0 };
	char *end;

	write_run(dir, "ccccc", 1, 0, true);
	read_lines(dir, &lines);
	end = lines.v[lines.len - 1];
	end[strlen(end) - 1] = '\0';
	lines.v[lines.len - 1] = ab_printf("%s,\"status\":7}", end);
	free(end);
	ok(verify_lines(&lines, true) == AB_CHAIN_BROKEN, "a member behind the signature");
	ab_strv_add(&lines, lines.v[1]);
	ok(verify_lines(&lines, false) == AB_CHAIN_BROKEN, "a line behind the last one");
	ab_strv_fini(&lines);
	lines = (struct ab_strv){ 0 };
	read_lines(dir, &lines);
	ab_strv_add(&lines, "what is not a record");
	ok(verify_lines(&lines, true) == AB_CHAIN_BROKEN && last.line == 4, "nor what is none");
}

/* A whole record in the place of another. */
static void test_replaced(void)
{
	ab_autoclose int dir = make_dir("replaced");
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_keys keys = known();
	static const struct {
		const char *id;
		enum ab_chain_state state;
	} rows[] = { { "hhhhh", AB_CHAIN_WHOLE }, { "iiiii", AB_CHAIN_BROKEN } };

	write_run(dir, "hhhhh", 1, 0, true);
	read_lines(dir, &lines);
	for (size_t i = 0; i < AB_COUNT(rows); i++) {
		struct ab_verifier *v = ab_verifier_new(&keys, true, keep, NULL);

		ab_verifier_expect(v, rows[i].id);
		for (size_t k = 0; k < lines.len; k++)
			ab_verifier_add(v, "", k + 1, lines.v[k], strlen(lines.v[k]));
		ab_verifier_end(v, false);
		ok(last.state == rows[i].state, "the record of hhhhh as that of %s", rows[i].id);
	}
	ab_keys_fini(&keys);
}

/* Write the first file anew, with hashes that fit each other: nobody needs a key for that. */
static void forge_first(int dir)
{
	struct ab_log_setup setup = { .dir = dir, .run_id = "ddddd" };
	ab_autobuf struct ab_buf line = { 0 };
	struct ab_log log;

	renameat(dir, AB_LOG_NAME, dir, "kept");
	ok(ab_log_open(&setup, &log, &err) == 0, "a forged record is begun");
	ab_record_open(&line, "ddddd", "start");
	ab_record_text(&line, "command", "forged");
	ab_log_write(&log, &line, &err);
	ab_log_fini(&log);
	renameat(dir, AB_LOG_NAME, dir, "audit.1.jsonl");
	renameat(dir, "kept", dir, AB_LOG_NAME);
}

static void test_files(void)
{
	ab_autoclose int dir = make_dir("files");

	write_run(dir, "ddddd", 200, 2000, true);
	ok(faccessat(dir, "audit.2.jsonl", F_OK, 0) < 0, "files were removed");
	ok(verify_dir(dir) == AB_CHAIN_WHOLE && last.removed > 1, "which the record says itself");
	forge_first(dir);
	ok(verify_dir(dir) == AB_CHAIN_BROKEN, "a first file with a chain of its own is noticed");
	unlinkat(dir, "audit.1.jsonl", 0);
	ok(verify_dir(dir) == AB_CHAIN_BROKEN, "the first file is missing");
}

static void test_missing_file(void)
{
	ab_autoclose int dir = make_dir("missing");
	char name[32];
	unsigned int number = 2;

	write_run(dir, "eeeee", 200, 2000, true);
	while (snprintf(name, sizeof(name), "audit.%u.jsonl", number),
	       faccessat(dir, name, F_OK, 0) < 0)
		number++;
	unlinkat(dir, name, 0);
	ok(verify_dir(dir) == AB_CHAIN_BROKEN, "a file is missing that the run kept");
	is_str(last.why, "a file is missing that the run did not remove", "with the reason");
}

static void test_resumed(void)
{
	ab_autoclose int dir = make_dir("resumed");
	ab_autoclose int fd = -1;
	struct ab_log_setup setup = { .dir = dir, .run_id = "fffff", .seal = &seal };
	ab_autobuf struct ab_buf line = { 0 };
	struct ab_log log;

	write_run(dir, "fffff", 2, 0, false);
	ok(verify_dir(dir) == AB_CHAIN_UNENDED, "a run without its end");
	fd = openat(dir, AB_LOG_NAME, O_WRONLY | O_APPEND | O_CLOEXEC);
	ok(write(fd, "{\"timesta", 9) == 9, "was killed in the middle of a line");
	ok(verify_dir(dir) == AB_CHAIN_UNENDED, "which is not a line yet");
	ok(ab_log_resume(&setup, &log, &err) == 0, "it is continued");
	ab_record_open(&line, "fffff", "end");
	ab_log_end(&log, &line, &err);
	ab_log_fini(&log);
	ok(verify_dir(dir) == AB_CHAIN_WHOLE && last.torn == 1, "and is whole then");
}

static void test_others(void)
{
	static char start[] = "{\"run_id\":\"aaaaa\",\"kind\":\"start\"}",
		    end[] = "{\"run_id\":\"aaaaa\",\"kind\":\"end\"}", junk[] = "what";
	char *old[] = { start, end }, *no_start[] = { end }, *no_record[] = { start, junk };
	ab_autoclose int dir = make_dir("others");
	struct ab_seal mine = seal;

	ok(verify_lines(&(struct ab_strv){ old, 2 }, true) == AB_CHAIN_UNCHAINED, "an old record");
	ok(verify_lines(&(struct ab_strv){ old, 2 }, false) == AB_CHAIN_UNCHAINED, "in a copy");
	ok(verify_lines(&(struct ab_strv){ no_start, 1 }, true) == AB_CHAIN_BROKEN, "no start");
	ok(verify_lines(&(struct ab_strv){ no_record, 2 }, false) == AB_CHAIN_UNCHAINED &&
		   verdicts == 2,
	   "what is no record is reported for itself");
	memset(seal.seed, 1, sizeof(seal.seed));
	ab_ed25519_public(seal.seed, seal.key);
	write_run(dir, "ggggg", 1, 0, true);
	seal = mine;
	ok(verify_dir(dir) == AB_CHAIN_UNKNOWN, "a key that is not known");
	unlinkat(dir, AB_LOG_NAME, 0);
	seal.loaded = false;
	write_run(dir, "ggggg", 1, 0, true);
	seal = mine;
	ok(verify_dir(dir) == AB_CHAIN_UNSIGNED, "an end without a signature");
}

static void test_key(int state)
{
	struct ab_seal again = { 0 };
	struct stat st;

	ok(ab_seal_load(state, &seal, &err) == 0 && seal.loaded, "a key is created");
	ok(fstatat(state, AB_SEAL_PRIVATE, &st, 0) == 0 && (st.st_mode & 0777) == 0600,
	   "for its owner alone");
	ok(ab_seal_load(state, &again, &err) == 0 && memcmp(&seal, &again, sizeof(seal)) == 0,
	   "once");
	fchmodat(state, AB_SEAL_PRIVATE, 0644, 0);
	ok(ab_seal_load(state, &again, &err) < 0, "one that others can read is refused");
	fchmodat(state, AB_SEAL_PRIVATE, 0600, 0);
	ok(ab_seal_load(state, &again, &err) == 0, "else it is not");
}

int main(void)
{
	ab_autofree char *remove = NULL;
	ab_autoclose int state = -1;

	if (!mkdtemp(folder))
		return 1;
	state = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	test_key(state);
	test_changes();
	test_added();
	test_replaced();
	test_files();
	test_missing_file();
	test_resumed();
	test_others();
	remove = ab_printf("rm -r %s", folder);
	ok(system(remove) == 0, "nothing is left");
	return done();
}
