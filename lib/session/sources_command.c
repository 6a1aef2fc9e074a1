#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/path.h"
#include "session/program.h"
#include "session/reach.h"
#include "session/sources_state.h"

enum {
	COMPLAINT = 2048, /* of a command, as much as is kept */
	SHOWN = 300,	  /* and as much as is told */
};

/* What a command said, if only a part of it, is not to be told by what it
 * complained about. */
static void cover(char *text, size_t len, const char *value, size_t value_len)
{
	char *at = text;

	if (value_len < 4)
		return;
	while ((at = memmem(at, (size_t)(text + len - at), value, value_len)) != NULL)
		memset(at, '*', value_len);
	/* The begin of one that was cut off. */
	for (size_t n = value_len - 1; n >= 4; n--)
		if (n <= len && memcmp(text + len - n, value, n) == 0)
			memset(text + len - n, '*', n);
}

static void cover_lines(char *text, size_t len, const char *said, size_t said_len)
{
	const char *end = said + said_len;

	while (said < end) {
		const char *stop = memchr(said, '\n', (size_t)(end - said));
		const char *line = said;
		size_t n = (size_t)((stop ? stop : end) - said);

		said += n + 1;
		ab_sourced_trim(&line, &n);
		cover(text, len, line, n);
	}
}

/* ": its words", escaped and in one line; "" when it has none. */
static char *show_complaint(const char *text, size_t len)
{
	struct ab_buf b = { 0 };

	ab_sourced_trim(&text, &len);
	if (len == 0)
		return ab_strdup("");
	ab_buf_puts(&b, ": ");
	ab_buf_escape_n(&b, text, len < SHOWN ? len : SHOWN);
	return ab_buf_take(&b);
}

static int tell_failure(const struct ab_secret *secret, const struct ab_ran *ran, unsigned ms,
			const char *complaint, struct ab_error *err)
{
	const char *name = secret->name, *program = secret->command.v[0];

	switch (ran->how) {
	case AB_RAN_FAILED:
		return ab_fail(err, AB_EUSAGE, ran->errnum, "the secret %s: run %s", name, program);
	case AB_RAN_LATE:
		return ab_fail(err, AB_EUSAGE, 0, "the secret %s: %s did not end in %g s%s", name,
			       program, ms / 1000.0, complaint);
	case AB_RAN_TOO_MUCH:
		return ab_fail(err, AB_EUSAGE, 0, "the secret %s: %s said more than %d KiB", name,
			       program, AB_SECRET_MAX / 1024);
	case AB_RAN_INTERRUPTED:
		return ab_fail(err, AB_EUSAGE, EINTR, "the secret %s: run %s", name, program);
	case AB_RAN_ENDED:
		break;
	}
	if (WIFSIGNALED(ran->status))
		return ab_fail(err, AB_EUSAGE, 0, "the secret %s: %s was ended by signal %d%s",
			       name, program, WTERMSIG(ran->status), complaint);
	return ab_fail(err, AB_EUSAGE, 0, "the secret %s: %s ended with status %d%s", name, program,
		       WEXITSTATUS(ran->status), complaint);
}

static int refuse_program(const struct ab_secret *secret, const char *path, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0,
		"the secret %s: its command would run %s on the host, which "
		"the box can write",
		secret->name, path);
	return ab_hint(err, "keep it outside of what the box can write, as in "
			    "~/.local/bin");
}

/* What is not there yet can be made by whoever can write there. */
static bool is_boxs(const struct ab_strv *writable, const char *path)
{
	ab_autofree char *clean = ab_path_resolve(path, "/", NULL);
	bool led = false;
	ab_autofree char *real = ab_reach_follow(writable, path, &led);

	return led || ab_reach_writes(writable, real ? real : clean);
}

/*
 * The command is run again whenever the box makes the server refuse the value,
 * so nothing that the box can write may be a part of it. Words that are paths
 * are looked at; what is inside of a script's text is the user's to know.
 */
static int check_words(const struct ab_secret *secret, struct ab_error *err)
{
	const struct ab_strv *words = &secret->command;

	if (words->v[0][0] != '/' && strchr(words->v[0], '/')) {
		ab_fail(err, AB_EUSAGE, 0, "the secret %s: the program %s is not a whole path",
			secret->name, words->v[0]);
		return ab_hint(err, "its command is run in /, not in the "
				    "workspace; write where it is");
	}
	for (size_t i = 0; i < words->len; i++)
		if (words->v[i][0] == '/' && is_boxs(&secret->writable, words->v[i]))
			return refuse_program(secret, words->v[i], err);
	return 0;
}

/* Of these folders those in which nobody but the host puts programs. */
static char *safe_path(const struct ab_strv *writable, const char *path)
{
	struct ab_buf b = { 0 };

	for (;; path++) {
		size_t n = strcspn(path, ":");
		ab_autofree char *dir = ab_strndup(path, n), *real = NULL;
		bool led = false;

		if (dir[0] == '/')
			real = ab_reach_follow(writable, dir, &led);
		if (real && !led && !ab_reach_writes(writable, real))
			ab_buf_printf(&b, "%s%s", b.len ? ":" : "", dir);
		path += n;
		if (!*path)
			return ab_buf_take(&b);
	}
}

/* The same entries, which hold values and are copied nowhere, but for PATH. */
static char **safe_environ(const struct ab_strv *writable, char *const *env, char **ret_path)
{
	size_t n = 0;
	char **list;

	while (env && env[n])
		n++;
	list = ab_alloc((n + 1) * sizeof(*list));
	for (size_t i = 0; i < n; i++) {
		ab_autofree char *dirs = NULL;

		list[i] = env[i];
		if (*ret_path || strncmp(env[i], "PATH=", 5) != 0)
			continue;
		dirs = safe_path(writable, env[i] + 5);
		list[i] = *ret_path = ab_printf("PATH=%s", dirs);
	}
	return list;
}

int ab_source_run(const struct ab_secret *secret, char *const *env, unsigned ms,
		  struct ab_sourced *ret, struct ab_error *err)
{
	char complaint[COMPLAINT];
	ab_autofree char *path = NULL;
	ab_autofree char **list = safe_environ(&secret->writable, env, &path);
	struct ab_program program = {
		.argv = (const char *const *)secret->command.v,
		.env = list,
		.cwd = "/",
		.in = -1,
		.ms = ms,
		.room = AB_SECRET_MAX,
		.err = complaint,
		.err_room = sizeof(complaint),
	};
	struct ab_ran ran;
	int r;

	if (check_words(secret, err) < 0)
		return -1;
	program.out = ab_sourced_pages(AB_SECRET_MAX + 1);
	ab_program_run(&program, &ran);
	if (ran.how == AB_RAN_ENDED && ran.status == 0) {
		ret->data = program.out;
		r = ab_sourced_keep(secret, secret->command.v[0], program.out, ran.out_len, ret,
				    err);
	} else {
		ab_autofree char *said = NULL;

		cover_lines(complaint, ran.err_len, program.out, ran.out_len);
		said = show_complaint(complaint, ran.err_len);
		r = tell_failure(secret, &ran, ms, said, err);
		ab_sourced_drop(program.out, AB_SECRET_MAX + 1);
	}
	explicit_bzero(complaint, sizeof(complaint));
	return r;
}
