#include "secrets/sources.h"

#include <jansson.h>
#include <sys/wait.h>

#include "base/data/hash.h"
#include "policy/values/paths.h"
#include "proxy/secrets/locked_pages.h"
#include "secrets/aws_credentials.h"
#include "host/host_command.h"
#include "host/program.h"
#include "workspace/tree/host_path.h"

enum {
	FILE_MAX = 1024 * 1024,
	DEPTH = 16, /* objects on the path of a key */
};

void ab_sourced_fini(struct ab_sourced *s)
{
	ab_pages_free(s->data, AB_SECRET_MAX + 1);
	*s = (struct ab_sourced){ 0 };
}

void ab_sourced_hold(struct ab_sourced *s, const char *value, size_t len)
{
	if (!s->data)
		s->data = ab_pages_new(AB_SECRET_MAX + 1);
	memmove(s->data, value, len);
	explicit_bzero(s->data + len, AB_SECRET_MAX + 1 - len);
	s->len = len;
}

static void trim_value(const char **s, size_t *len)
{
	while (*len > 0 && ab_is_space((*s)[*len - 1]))
		(*len)--;
	while (*len > 0 && ab_is_space(**s)) {
		(*s)++;
		(*len)--;
	}
}

/* Stores it in ret, which may have its pages already. `where`: for messages. */
static int keep_value(const char *where, const char *value, size_t len, struct ab_sourced *ret,
		      struct ab_error *err)
{
	trim_value(&value, &len);
	if (len == 0) {
		ab_fail(err, AB_EUSAGE, 0, "empty value from %s", where);
		return ab_hint(err, "set it, or remove the secret");
	}
	if (len > AB_SECRET_MAX)
		return ab_fail(err, AB_EUSAGE, 0, "value from %s exceeds %d KiB", where,
			       AB_SECRET_MAX / 1024);
	ab_sourced_hold(ret, value, len);
	return 0;
}

static int fail_expired(const char *where, int64_t expires, struct ab_error *err)
{
	time_t at = (time_t)expires;
	char text[32];
	struct tm tm;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&at, &tm));
	return ab_fail(err, AB_EUSAGE, 0, "the credentials from %s expired at %s", where, text);
}

/* Turns the text of a source into the words of a key that signs. */
static int keep_credentials(const struct ab_secret *secret, const char *where, const char *text,
			    size_t len, struct ab_sourced *ret, struct ab_error *err)
{
	ab_autobuf struct ab_buf words = { .wipe = true };
	struct ab_aws_credentials about;
	const char *why = ab_aws_credentials_read(text, len, secret->profile, &words, &about);
	int r;

	if (why)
		r = ab_fail(err, AB_EUSAGE, 0, "%s %s%s%s", where, why, secret->profile ? ": " : "",
			    secret->profile ? secret->profile : "");
	else if (about.expires && about.expires <= (int64_t)time(NULL))
		r = fail_expired(where, about.expires, err);
	else
		r = keep_value(where, words.data, words.len, ret, err);
	ret->expires = about.expires;
	return r;
}

static int read_variables(char *const *env, struct ab_sourced *ret, struct ab_error *err)
{
	const char *const *names = ab_secret_part_names;
	const char *id = ab_environ_get(env, names[AB_PART_ID]);
	const char *key = ab_environ_get(env, names[AB_PART_KEY]);
	ab_autobuf struct ab_buf words = { .wipe = true };
	const char *why;

	if (!id && !key)
		return 0;
	why = ab_aws_credentials_join(id ? id : "", key ? key : "",
				      ab_environ_get(env, names[AB_PART_TOKEN]), &words);
	if (why)
		return ab_fail(err, AB_EUSAGE, 0, "the environment %s (%s, %s)", why,
			       names[AB_PART_ID], names[AB_PART_KEY]);
	return keep_value("the environment", words.data, words.len, ret, err);
}

static int read_env(const struct ab_secret *secret, char *const *env, struct ab_sourced *ret,
		    struct ab_error *err)
{
	const char *value = ab_environ_get(env, secret->env);
	ab_autofree char *where = ab_printf("variable %s", secret->env);

	if (secret->sign)
		return read_variables(env, ret, err);
	if (!value)
		return 0;
	return keep_value(where, value, strlen(value), ret, err);
}

/* Follows a dotted key. A name may itself contain dots
 * ("auths.ghcr.io.auth"), so the longest existing name is tried first. */
static const json_t *find_key(const json_t *at, const char *key, unsigned left)
{
	char name[256];

	for (size_t len = strlen(key); len > 0; len--) {
		const json_t *found;
		const json_t *below;

		if ((key[len] != '\0' && key[len] != '.') || len >= sizeof(name))
			continue;
		memcpy(name, key, len);
		name[len] = '\0';
		found = json_object_get(at, name);
		if (!found)
			continue;
		if (key[len] == '\0')
			return found;
		below = left ? find_key(found, key + len + 1, left - 1) : NULL;
		if (below)
			return below;
	}
	return NULL;
}

static int pick_key(const struct ab_secret *secret, const char *text, size_t len,
		    struct ab_sourced *ret, struct ab_error *err)
{
	json_error_t wrong;
	json_auto_t *json = json_loadb(text, len, 0, &wrong);
	const json_t *found = json ? find_key(json, secret->key, DEPTH) : NULL;

	/* Not wrong.text: it quotes the file. */
	if (!json)
		return ab_fail(err, AB_EUSAGE, 0, "%s is not JSON (line %d)", secret->file,
			       wrong.line);
	if (!found)
		return ab_fail(err, AB_EUSAGE, 0, "%s has no key %s", secret->file, secret->key);
	if (!json_is_string(found))
		return ab_fail(err, AB_EUSAGE, 0, "%s in %s is not a string", secret->key,
			       secret->file);
	return keep_value(secret->file, json_string_value(found), json_string_length(found), ret,
			  err);
}

/* The JSON library copies what it reads: wipe the copies. This changes the library's global allocator:
 * only one thread reads sources. */
static int pick_key_wiped(const struct ab_secret *secret, const char *text, size_t len,
			  struct ab_sourced *ret, struct ab_error *err)
{
	json_malloc_t get;
	json_free_t put;
	int r;

	json_get_alloc_funcs(&get, &put);
	json_set_alloc_funcs(malloc, ab_free_wiped);
	r = pick_key(secret, text, len, ret, err);
	json_set_alloc_funcs(get, put);
	return r;
}

static int open_file(const struct ab_secret *secret, struct ab_error *err)
{
	bool led;
	ab_autofree char *real = ab_host_path_follow(&secret->writable, secret->file, &led);
	ab_autoclose int fd = -1;
	struct stat st;

	if (led) {
		ab_fail(err, AB_EUSAGE, 0, "%s goes through a link that the box could have created",
			secret->file);
		return ab_hint(err,
			       "name the target itself, or keep it where the box cannot write");
	}
	fd = real ? ab_host_path_open(real) : -1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_fail(err, AB_EUSAGE, errno, "cannot open %s", secret->file);
	if (S_ISREG(st.st_mode))
		return ab_take_fd(&fd);
	ab_fail(err, AB_EUSAGE, 0, "%s is not a regular file", secret->file);
	return ab_hint(err, "for anything else use \"from\": \"command\"");
}

static int read_file(const struct ab_secret *secret, struct ab_sourced *ret, struct ab_error *err)
{
	size_t room = secret->key || secret->sign ? FILE_MAX : AB_SECRET_MAX + 64;
	ab_autoclose int fd = open_file(secret, err);
	ssize_t len;
	char *text;
	int r;

	if (fd < 0)
		return -1;
	text = ab_pages_new(room);
	len = ab_read_full(fd, text, room);
	if (len < 0)
		r = ab_fail(err, AB_EUSAGE, errno, "cannot read %s", secret->file);
	else if ((size_t)len == room)
		r = ab_fail(err, AB_EUSAGE, 0, "%s is too large (over %zu KiB)", secret->file,
			    room / 1024);
	else if (secret->sign)
		r = keep_credentials(secret, secret->file, text, (size_t)len, ret, err);
	else if (secret->key)
		r = pick_key_wiped(secret, text, (size_t)len, ret, err);
	else
		r = keep_value(secret->file, text, (size_t)len, ret, err);
	ab_pages_free(text, room);
	return r;
}

bool ab_source_is_open(const struct ab_secret *secret)
{
	ab_autofree char *real = NULL;
	bool led = false;

	if (secret->from != AB_FROM_FILE)
		return false;
	real = ab_host_path_follow(&secret->writable, secret->file, &led);
	return led || ab_host_path_writes(&secret->writable, real ? real : secret->file);
}

static uint64_t hash_stat(const struct stat *st)
{
	const uint64_t parts[] = { st->st_dev,
				   st->st_ino,
				   (uint64_t)st->st_size,
				   (uint64_t)st->st_mtim.tv_sec,
				   (uint64_t)st->st_mtim.tv_nsec,
				   (uint64_t)st->st_ctim.tv_sec,
				   (uint64_t)st->st_ctim.tv_nsec };
	uint64_t stamp = ab_hash(AB_HASH_START, parts, sizeof(parts));

	return stamp ? stamp : 1;
}

uint64_t ab_source_stamp(const struct ab_secret *secret)
{
	struct stat st;

	if (secret->from != AB_FROM_FILE || stat(secret->file, &st) < 0)
		return 0;
	return hash_stat(&st);
}

enum {
	STDERR_MAX = 2048,  /* bytes read of a command's standard error */
	STDERR_SHOWN = 300, /* and bytes quoted */
};

/* A command may print the value, or part of it, on standard error too. */
static void mask_value(char *text, size_t len, const char *value, size_t value_len)
{
	char *at = text;

	if (value_len < 4)
		return;
	while ((at = memmem(at, (size_t)(text + len - at), value, value_len)) != NULL)
		memset(at, '*', value_len);
	/* The beginning of one that was cut off. */
	for (size_t n = value_len - 1; n >= 4; n--)
		if (n <= len && memcmp(text + len - n, value, n) == 0)
			memset(text + len - n, '*', n);
}

static void mask_lines(char *text, size_t len, const char *output, size_t output_len)
{
	const char *end = output + output_len;

	while (output < end) {
		const char *stop = memchr(output, '\n', (size_t)(end - output));
		const char *line = output;
		size_t n = (size_t)((stop ? stop : end) - output);

		output += n + 1;
		trim_value(&line, &n);
		mask_value(text, len, line, n);
	}
}

/* ": TEXT", escaped and on one line, or "". */
static char *quote_stderr(const char *text, size_t len)
{
	struct ab_buf b = { 0 };

	trim_value(&text, &len);
	if (len == 0)
		return ab_strdup("");
	ab_buf_puts(&b, ": ");
	ab_buf_escape_n(&b, text, len < STDERR_SHOWN ? len : STDERR_SHOWN);
	return ab_buf_take(&b);
}

static int fail_command(const struct ab_secret *secret, const struct ab_ran *ran, unsigned ms,
			const char *quoted, struct ab_error *err)
{
	const char *program = secret->command.v[0];

	switch (ran->how) {
	case AB_RAN_FAILED:
		return ab_fail(err, AB_EUSAGE, ran->errnum, "cannot run %s", program);
	case AB_RAN_LATE:
		return ab_fail(err, AB_EUSAGE, 0, "%s timed out after %g s%s", program, ms / 1000.0,
			       quoted);
	case AB_RAN_TOO_MUCH:
		return ab_fail(err, AB_EUSAGE, 0, "%s printed more than %d KiB", program,
			       AB_SECRET_MAX / 1024);
	case AB_RAN_INTERRUPTED:
		return ab_fail(err, AB_EUSAGE, EINTR, "cannot run %s", program);
	case AB_RAN_ENDED:
		break;
	}
	if (WIFSIGNALED(ran->status))
		return ab_fail(err, AB_EUSAGE, 0, "%s was killed by signal %d%s", program,
			       WTERMSIG(ran->status), quoted);
	return ab_fail(err, AB_EUSAGE, 0, "%s exited with status %d%s", program,
		       WEXITSTATUS(ran->status), quoted);
}

/*
 * The box can cause another run of the command, by making the server reject the
 * value, so it must not be able to write any file of the command. Only words
 * that are paths are checked; the text of a script is the user's business.
 */
static int check_words(const struct ab_secret *secret, struct ab_error *err)
{
	const struct ab_strv *words = &secret->command;

	if (words->v[0][0] != '/' && strchr(words->v[0], '/')) {
		ab_fail(err, AB_EUSAGE, 0, "the program %s is a relative path", words->v[0]);
		return ab_hint(err, "the command runs in /, not in the workspace; use an "
				    "absolute path");
	}
	for (size_t i = 0; i < words->len; i++)
		if (words->v[i][0] == '/' && ab_host_path_is_open(&secret->writable, words->v[i])) {
			ab_fail(err, AB_EUSAGE, 0,
				"its command would use %s on the host, which the box can write",
				words->v[i]);
			return ab_hint(err,
				       "keep it where the box cannot write, such as ~/.local/bin");
		}
	return 0;
}

static int run_source_command(const struct ab_secret *secret, char *const *env, unsigned ms,
			      struct ab_sourced *ret, struct ab_error *err)
{
	char errors[STDERR_MAX];
	ab_autofree char *path = NULL;
	ab_autofree char **list = ab_host_command_environ(&secret->writable, env, &path);
	struct ab_program program = {
		.argv = (const char *const *)secret->command.v,
		.env = list,
		.cwd = "/",
		.in = -1,
		.ms = ms,
		.room = AB_SECRET_MAX,
		.err = errors,
		.err_room = sizeof(errors),
	};
	struct ab_ran ran;
	int r;

	if (check_words(secret, err) < 0)
		return -1;
	program.out = ab_pages_new(AB_SECRET_MAX + 1);
	ab_program_run(&program, &ran);
	if (ran.how == AB_RAN_ENDED && ran.status == 0) {
		ret->data = program.out;
		r = secret->sign
			    ? keep_credentials(secret, secret->command.v[0], program.out,
					       ran.out_len, ret, err)
			    : keep_value(secret->command.v[0], program.out, ran.out_len, ret, err);
	} else {
		ab_autofree char *quoted = NULL;

		mask_lines(errors, ran.err_len, program.out, ran.out_len);
		quoted = quote_stderr(errors, ran.err_len);
		r = fail_command(secret, &ran, ms, quoted, err);
		ab_pages_free(program.out, AB_SECRET_MAX + 1);
	}
	explicit_bzero(errors, sizeof(errors));
	return r;
}

int ab_source_read(const struct ab_secret *secret, char *const *env, unsigned ms,
		   struct ab_sourced *ret, struct ab_error *err)
{
	struct ab_sourced s = { 0 };
	int r = -1;

	switch (secret->from) {
	case AB_FROM_ENV:
		r = read_env(secret, env, &s, err);
		break;
	case AB_FROM_FILE:
		r = read_file(secret, &s, err);
		break;
	case AB_FROM_COMMAND:
		r = run_source_command(secret, env, ms, &s, err);
		break;
	}
	if (r < 0) {
		ab_sourced_fini(&s);
		ab_wrap(err, "secret %s", secret->name);
		if (!err->hint[0])
			ab_hint(err, "required by %s; the run does not start without it",
				secret->origin);
		return ab_step(err, "secrets");
	}
	*ret = s;
	return 0;
}
