/* Where values come from: variables, files, commands, and how each fails. */
#include "secrets/sources.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/data/error.h"
#include "base/data/mem.h"
#include "tap.h"

#define VALUE "tv-Zq81mmWx0Lr"

static char top[] = "/tmp/agentbox-sources-XXXXXX";

static void write_file(const char *name, const char *text)
{
	ab_autofree char *path = ab_printf("%s/%s", top, name);
	FILE *f = fopen(path, "we");

	if (!f)
		abort();
	fputs(text, f);
	fclose(f);
}

static char *const caller[] = { (char *)"EMPTY=",
				(char *)"BLANK= \n",
				(char *)"KEY=" VALUE,
				(char *)"LINE= " VALUE "\n",
				(char *)"PATH=/usr/bin:/bin",
				NULL };

/* The value, or "(none)", or "! " and the error. */
static char *read_it(const struct ab_secret *secret, unsigned ms)
{
	ab_autosourced struct ab_sourced got = { 0 };
	struct ab_error err = { 0 };

	if (ab_source_read(secret, caller, ms, &got, &err) < 0)
		return ab_printf("! %s", err.text);
	return got.data ? ab_strndup(got.data, got.len) : ab_strdup("(none)");
}

static const struct {
	const char *variable, *want;
} variables[] = {
	{ "KEY", VALUE },
	{ "LINE", VALUE },
	{ "UNSET", "(none)" },
	{ "EMPTY", "! secret S: empty value from variable EMPTY" },
	{ "BLANK", "! secret S: empty value from variable BLANK" },
};

static void check_variables(void)
{
	for (size_t i = 0; i < AB_COUNT(variables); i++) {
		struct ab_secret secret = { .name = "S",
					    .origin = "test",
					    .env = variables[i].variable };
		ab_autofree char *got = read_it(&secret, 0);

		is_str(got, variables[i].want, variables[i].variable);
	}
}

/* "%" in what is wanted stands for the folder. */
static const struct {
	const char *text, *key, *want, *name;
} files[] = {
	{ VALUE "\n", NULL, VALUE, "a line" },
	{ "", NULL, "! secret S: empty value from %/file", "an empty one" },
	{ "{\"a\":{\"b\":\"" VALUE "\"}}", "a.b", VALUE, "a key" },
	{ "{\"a\":{\"b\":\"" VALUE "\"}}", "a.c", "! secret S: %/file has no key a.c",
	  "no such key" },
	{ "{\"a\":{\"b\":\"" VALUE "\"}}", "a", "! secret S: a in %/file is not a string",
	  "an object" },
	{ "{\"auths\":{\"ghcr.io\":{\"auth\":\"" VALUE "\"}}}", "auths.ghcr.io.auth", VALUE,
	  "a name with a dot" },
	{ "{\"a\":{\"x\":1},\"a.b\":{\"c\":\"" VALUE "\"}}", "a.b.c", VALUE, "the longer name" },
	{ "{\"a.b\":{\"x\":1},\"a\":{\"b\":{\"c\":\"" VALUE "\"}}}", "a.b.c", VALUE,
	  "the shorter one where that leads nowhere" },
	{ "[\"" VALUE "\"]", "0", "! secret S: %/file has no key 0", "a list" },
	{ "{\"a\": " VALUE "}", "a", "! secret S: %/file is not JSON (line 1)",
	  "not JSON, and no word of it is told" },
};

static char *fill_in(const char *want)
{
	const char *at = strchr(want, '%');

	return at ? ab_printf("%.*s%s%s", (int)(at - want), want, top, at + 1) : ab_strdup(want);
}

static void check_files(void)
{
	ab_autofree char *path = ab_printf("%s/file", top);

	for (size_t i = 0; i < AB_COUNT(files); i++) {
		struct ab_secret secret = { .name = "S",
					    .origin = "test",
					    .from = AB_FROM_FILE,
					    .file = path,
					    .key = files[i].key };
		ab_autofree char *want = fill_in(files[i].want);
		ab_autofree char *got = NULL;

		write_file("file", files[i].text);
		got = read_it(&secret, 0);
		is_str(got, want, files[i].name);
	}
}

static void check_kinds(void)
{
	ab_autofree char *link = ab_printf("%s/link", top);
	ab_autofree char *fifo = ab_printf("%s/fifo", top);
	ab_autofree char *large = ab_printf("%s/large", top);
	struct ab_secret secret = { .name = "S", .origin = "test", .from = AB_FROM_FILE };
	ab_autofree char *linked = NULL, *piped = NULL, *gone = NULL;
	ab_autofree char *big = NULL;

	write_file("file", VALUE);
	if (symlink("file", link) < 0 || mkfifo(fifo, 0600) < 0)
		abort();
	secret.file = link;
	linked = read_it(&secret, 0);
	is_str(linked, VALUE, "through a symbolic link");
	secret.file = fifo;
	piped = read_it(&secret, 0);
	ok(strstr(piped, "is not a regular file"), "a pipe is refused, at once");
	secret.file = "/nonexistent/key";
	gone = read_it(&secret, 0);
	ok(strncmp(gone, "! secret S: cannot open /nonexistent/key", 40) == 0,
	   "one that is not there");
	write_file("large", "");
	if (truncate(large, AB_SECRET_MAX + 100) < 0)
		abort();
	secret.file = large;
	big = read_it(&secret, 0);
	ok(strstr(big, "too large"), "one that is too large");
}

#define SH(text)                       \
	{                              \
		"sh", "-c", text, NULL \
	}
static const struct {
	const char *argv[4];
	const char *want, *name;
} commands[] = {
	{ SH("echo " VALUE), VALUE, "what it says" },
	{ SH("echo $KEY; echo warning >&2"), VALUE,
	  "it has the caller's environment; a warning hinders nothing" },
	{ SH("cat; echo " VALUE), VALUE, "nothing to read" },
	{ SH("exit 3"), "! secret S: sh exited with status 3", "a status" },
	{ SH("printf 'no \\033[1mstore\\n' >&2; exit 1"),
	  "! secret S: sh exited with status 1: no \\x1b[1mstore", "its complaint, escaped" },
	{ SH("echo " VALUE "; echo bad key " VALUE " >&2; exit 1"),
	  "! secret S: sh exited with status 1: bad key **************",
	  "which does not tell the value" },
	{ SH("echo " VALUE "; printf 'bad tv-Zq81m' >&2; exit 1"),
	  "! secret S: sh exited with status 1: bad ********", "nor the begin of it" },
	{ SH("true"), "! secret S: empty value from sh", "nothing" },
	{ SH("kill -9 $$"), "! secret S: sh was killed by signal 9", "a signal" },
	{ SH("head -c 20000 /dev/zero"), "! secret S: sh printed more than 16 KiB", "too much" },
	{ { "no-such-program-here", NULL },
	  "! secret S: no-such-program-here exited with status 127: "
	  "no-such-program-here: No such file or directory",
	  "no such program" },
};

static void check_commands(void)
{
	for (size_t i = 0; i < AB_COUNT(commands); i++) {
		struct ab_secret secret = { .name = "S",
					    .origin = "test",
					    .from = AB_FROM_COMMAND };
		ab_autofree char *got = NULL;

		for (size_t k = 0; commands[i].argv[k]; k++)
			ab_strv_add(&secret.command, commands[i].argv[k]);
		got = read_it(&secret, 20000);
		is_str(got, commands[i].want, commands[i].name);
		ab_strv_fini(&secret.command);
	}
}

/* Its children hold the pipe: they are ended, nobody waits for them. */
static void check_time(void)
{
	struct ab_secret secret = { .name = "S", .origin = "test", .from = AB_FROM_COMMAND };
	struct timespec from, to;
	ab_autofree char *late = NULL, *left = NULL;

	ab_strv_add(&secret.command, "sh");
	ab_strv_add(&secret.command, "-c");
	ab_strv_add(&secret.command, "sleep 60");
	clock_gettime(CLOCK_MONOTONIC, &from);
	late = read_it(&secret, 100);
	is_str(late, "! secret S: sh timed out after 0.1 s", "too late");
	free(secret.command.v[2]);
	secret.command.v[2] = ab_strdup("sleep 60 & echo " VALUE);
	left = read_it(&secret, 20000);
	clock_gettime(CLOCK_MONOTONIC, &to);
	is_str(left, VALUE, "what it leaves behind is not waited for");
	ok(to.tv_sec - from.tv_sec < 50, "in time");
	ab_strv_fini(&secret.command);
}

static void check_stamps(void)
{
	ab_autofree char *path = ab_printf("%s/file", top);
	ab_autofree char *other = ab_printf("%s/other", top);
	struct ab_secret secret = { .from = AB_FROM_FILE, .file = path };
	uint64_t was, is;

	write_file("file", "one");
	was = ab_source_stamp(&secret);
	ok(was && ab_source_stamp(&secret) == was, "the same file");
	write_file("file", "longer");
	is = ab_source_stamp(&secret);
	ok(is && is != was, "written");
	was = is;
	write_file("other", "others");
	if (rename(other, path) < 0)
		abort();
	ok(ab_source_stamp(&secret) != was, "replaced");
	unlink(path);
	ok(ab_source_stamp(&secret) == 0, "gone");
	secret.from = AB_FROM_ENV;
	ok(ab_source_stamp(&secret) == 0, "no file");
}

int main(void)
{
	ab_autofree char *clean = NULL;

	if (!mkdtemp(top))
		return 1;
	check_variables();
	check_files();
	check_kinds();
	check_commands();
	check_time();
	check_stamps();
	clean = ab_printf("rm -rf %s", top);
	if (system(clean) != 0)
		return 1;
	return done();
}
