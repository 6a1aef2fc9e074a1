/*
 * Programs that were refused: what is recorded of them, and what is told.
 */
#include "guard/notify/refused_programs.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/write/log.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "base/system/fd.h"
#include "guard/notify/guard_link.h"
#include "guard/notify/refused_files.h"
#include "tap.h"

static char top[] = "/tmp/agentbox-unit.XXXXXX";
static struct ab_log sink = AB_LOG_NONE;
static struct ab_error error;

static struct ab_note note_of(const char *command, const char *rule, enum ab_decision decision,
			      uint64_t before)
{
	struct ab_note note = { .before = before, .told = 1, .decision = decision };

	snprintf(note.command, sizeof(note.command), "%s", command);
	snprintf(note.rule, sizeof(note.rule), "%s", rule);
	snprintf(note.reason, sizeof(note.reason), "Asks for more.");
	snprintf(note.by, sizeof(note.by), "sh");
	return note;
}

static void take(struct ab_refused_programs *r, struct ab_note note)
{
	ok(ab_refused_programs_take(r, &note, &error) == 0, "%s is taken", note.command);
}

static void test_none(void)
{
	struct ab_refused_programs *r = ab_refused_programs_new("none", &sink, true);
	ab_autostrv struct ab_strv lines = { 0 };

	ab_refused_programs_summary(r, true, &lines);
	ok(lines.len == 0 && ab_refused_programs_count(r) == 0, "nothing is told of nothing");
	ab_refused_programs_free(r);
}

static void test_lines(void)
{
	struct ab_refused_programs *r = ab_refused_programs_new("abcd", &sink, true);
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_note rest = { .before = 7 };

	take(r, note_of("sudo id", "sudo", AB_ESCALATED, 0));
	take(r, note_of("sudo id", "sudo", AB_ESCALATED, 0));
	take(r, note_of("halt\033[2J", "shutdown-reboot", AB_FORBIDDEN, 5));
	take(r, note_of("mine", "user", AB_FORBIDDEN, 0));
	take(r, note_of("", "", AB_FORBIDDEN, 0));
	take(r, rest);
	ok(ab_refused_programs_count(r) == 17, "all are counted");
	ab_refused_programs_summary(r, true, &lines);
	ok(lines.len == 9, "so many lines: %zu", lines.len);
	is_str(lines.v[0], "17 programs were denied", "how many");
	is_str(lines.v[1], "  abcd-e1  sudo id          asks for more  rule sudo, 2 times",
	       "which, why, by which rule, how often");
	is_str(lines.v[6], "           allow it next time:  agentbox run --yes -- ...",
	       "how to allow it once");
	is_str(lines.v[7],
	       "           allow one always:    agentbox config set commands.override.sudo "
	       "sandboxed",
	       "and always");
	is_str(lines.v[2], "  abcd-e2  halt\\x1b[2J      asks for more  rule shutdown-reboot",
	       "nothing reaches a terminal unescaped");
	is_str(lines.v[3], "  abcd-e3  mine             asks for more  rule user",
	       "one's own rule has no override");
	is_str(lines.v[4], "  abcd-e4  (started by sh)  asks for more",
	       "one that could not be read");
	ok(strstr(lines.v[5], "and 12 more: agentbox log abcd --denied"),
	   "and those that were only counted");
	ab_refused_programs_free(r);
}

static struct ab_note denied(enum ab_note_kind kind, const char *what, const char *hint)
{
	struct ab_note note = { .kind = kind, .told = 1, .pid = 3 };

	snprintf(kind == AB_NOTE_CALL ? note.call : note.path, sizeof(note.call), "%s", what);
	snprintf(note.access, sizeof(note.access), "write");
	snprintf(note.rule, sizeof(note.rule), "filesystem.write");
	snprintf(note.reason, sizeof(note.reason), "outside");
	snprintf(note.hint, sizeof(note.hint), "%s", hint);
	snprintf(note.by, sizeof(note.by), "cp\033");
	snprintf(note.exe, sizeof(note.exe), "/bin/cp");
	note.words = sizeof("cp\0\"a\"\0\n");
	memcpy(note.command, "cp\0\"a\"\0\n", note.words);
	return note;
}

static void test_denials(void)
{
	struct ab_refused_programs *r = ab_refused_programs_new("file", &sink, true);
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_note again = { .kind = AB_NOTE_AGAIN, .told = 1, .number = 3, .times = 4 };
	struct ab_note rest = { .kind = AB_NOTE_FILE, .before = 7 };

	take(r, denied(AB_NOTE_FILE, "/etc/a", "open /etc"));
	take(r, denied(AB_NOTE_CALL, "mount", ""));
	take(r, denied(AB_NOTE_FILE, "/etc/\033b", "open /etc"));
	take(r, denied(AB_NOTE_FILE, "/x", ""));
	take(r, again);
	again.number = 5;
	take(r, again);
	again.number = 0;
	take(r, again);
	take(r, rest);
	ok(ab_refused_programs_others(r) == 15 && ab_refused_programs_count(r) == 0,
	   "all are counted, and apart from programs");
	ab_refused_programs_summary(r, true, &lines);
	ok(lines.len == 9, "so many lines: %zu", lines.len);
	is_str(lines.v[0], "14 file accesses were denied", "how many");
	is_str(lines.v[1], "  file-f1  write /etc/a      outside  cp\\x1b, pid 3",
	       "which, why, who");
	is_str(lines.v[2], "  file-f3  write /etc/\\x1bb  outside  cp\\x1b, pid 3, 5 times",
	       "how often; nothing reaches a terminal unescaped");
	is_str(lines.v[3], "           allow it next time:  open /etc",
	       "what allows several is said once");
	is_str(lines.v[4], "  file-f4  write /x          outside  cp\\x1b, pid 3",
	       "one that nothing allows");
	is_str(lines.v[5], "           what to do:  agentbox why file-f4", "and what explains it");
	is_str(lines.v[6], "  and 7 more: agentbox log file --denied",
	       "and those that were only counted");
	is_str(lines.v[7], "1 system call was denied", "calls by themselves");
	is_str(lines.v[8], "  file-f2  mount  outside  cp\\x1b, pid 3", "the same for each");
	ab_refused_programs_free(r);
}

/* What a program tries on its own is told only if there is more to tell, or the command failed. */
static void test_incidental(void)
{
	static const struct {
		const char *path;
		bool incidental;
	} paths[] = {
		{ "/usr/lib/python3/x/__pycache__", true },
		{ "/usr/lib/python3/__pycache__/x.cpython-311.pyc.1", true },
		{ "/root/.pyenv/a.pyc", true },
		{ "/home/me/.cache/pip/x", true },
		{ "/home/me/.bash_history", true },
		{ "/home/me/.npm/_logs/1", true },
		{ "/home/me/.npm", true },
		{ "/home/me/.lesshsQ", true },
		{ "/home/me/.viminfo.tmp", true },
		{ "/home/me/.notes.txt.swp", true },
		{ "/var/lib/x/db.lock", true },
		{ "/home/me/.gitconfig", false },
		{ "/home/me/other/file", false },
		{ "/home/me/history", false },
		{ "/home/me/x.swp", false },
		{ "/home/me/.lessfilter", false },
		{ "/home/me/lock", false },
		{ "/home/me/x.cached/y", false },
		{ "", false },
		{ "/", false },
	};
	struct ab_refused_programs *r = ab_refused_programs_new("file", &sink, true);
	ab_autostrv struct ab_strv none = { 0 }, all = { 0 }, few = { 0 };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ok(ab_refused_is_incidental(paths[i].path) == paths[i].incidental, "%s is %s",
		   paths[i].path, paths[i].incidental ? "incidental" : "not");
	take(r, denied(AB_NOTE_FILE, "/x/.cache/a", "open it"));
	ab_refused_programs_summary(r, false, &none);
	ok(none.len == 0, "nothing is said of a cache alone");
	ab_refused_programs_summary(r, true, &all);
	ok(all.len == 3, "but when the command failed");
	take(r, denied(AB_NOTE_FILE, "/x/b", "open it"));
	ab_refused_programs_summary(r, false, &few);
	ok(few.len == 4, "beside others it is counted: %zu", few.len);
	is_str(few.v[1], "  file-f2  write /x/b  outside  cp\\x1b, pid 3", "the other has a line");
	is_str(few.v[3], "  and 1 more: agentbox log file --denied", "it has none");
	ok(ab_refused_programs_others(r) == 2, "both are in the record");
	ab_refused_programs_free(r);
}

static void test_by(void)
{
	struct ab_refused_programs *r = ab_refused_programs_new("abcd", &sink, true);
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_note note = note_of("", "", AB_FORBIDDEN, 0);

	snprintf(note.by, sizeof(note.by), "\033[2Jsh");
	take(r, note);
	ab_refused_programs_summary(r, true, &lines);
	is_str(lines.v[1], "  abcd-e1  (started by \\x1b[2Jsh)  asks for more",
	       "a program's name reaches no terminal unescaped either");
	ab_refused_programs_free(r);
}

static void test_many(void)
{
	struct ab_refused_programs *r = ab_refused_programs_new("many", &sink, true);
	ab_autostrv struct ab_strv lines = { 0 };
	unsigned int wrong = 0;

	for (int i = 0; i < 500; i++) {
		char command[16];
		struct ab_note note;

		snprintf(command, sizeof(command), "x%d", i);
		note = note_of(command, "sudo", AB_FORBIDDEN, 0);
		wrong += ab_refused_programs_take(r, &note, &error) < 0;
	}
	ab_refused_programs_summary(r, true, &lines);
	ok(!wrong && lines.len == 13, "any number of them is a few lines");
	ok(strstr(lines.v[11], "and 490 more"), "that say how many there were");
	ab_refused_programs_free(r);
}

/* Each line is JSON, and the counts add up. */
static void test_records(int dir)
{
	ab_autoclose int fd = openat(dir, AB_LOG_NAME, O_RDONLY | O_CLOEXEC);
	ab_autofree char *text = NULL;
	size_t len, wrong = 0, n = 0, traced = 0;
	json_int_t count = 0;

	if (ab_read_all(fd, 16 << 20, &text, &len) < 0)
		abort();
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		json_t *o = json_loads(line, 0, NULL);
		json_t *id = json_object_get(o, "id");

		if (strcmp(json_string_value(json_object_get(o, "run_id")), "file") == 0) {
			traced += strcmp(json_string_value(json_object_get(o, "kind")),
					 "violation") == 0;
			json_decref(o);
			continue;
		}
		wrong += !o || strcmp(json_string_value(json_object_get(o, "kind")), "exec") != 0;
		count += json_is_string(id);
		count += json_integer_value(json_object_get(o, "repeated"));
		n++;
		json_decref(o);
	}
	ok(!wrong && n == 507, "there is a record of each: %zu", n);
	ok(traced == 8, "and of each file and call: %zu", traced);
	ok(count == 518, "and of those before it: %lld", (long long)count);
}

int main(void)
{
	struct ab_log_setup setup = { .run_id = "abcd" };

	if (!mkdtemp(top))
		abort();
	setup.dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (setup.dir < 0 || ab_log_open(&setup, &sink, &error) < 0)
		abort();
	test_none();
	test_lines();
	test_denials();
	test_incidental();
	test_by();
	test_many();
	test_records(setup.dir);
	ab_log_fini(&sink);
	unlinkat(setup.dir, AB_LOG_NAME, 0);
	close(setup.dir);
	rmdir(top);
	return done();
}
