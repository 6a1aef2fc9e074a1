#include "base/text/json_scan.h"
#include "policy/model/policy.h"
#include "sandbox/plan/plan.h"
#include "workspace/tree/host_path.h"
#include "secrets/secrets.h"

enum { FILE_MAX = 4 * 1024 * 1024 };

static bool is_masked(const struct ab_safe *safe, const char *path)
{
	return ab_find_row(safe->files, safe->nfiles, path, path) != NULL;
}

/* `len` is its size when it was opened. Leaves no other copy behind. */
static int read_whole(int fd, const char *path, char **ret, size_t len, struct ab_error *err)
{
	char *data;

	if (len > FILE_MAX) {
		ab_fail(err, AB_EUSAGE, 0, "%s is too large to mask its secrets", path);
		return ab_hint(err, "hide it instead: --deny-read %s", path);
	}
	data = ab_alloc(len + 1);
	if (ab_read_full(fd, data, len) != (ssize_t)len) {
		explicit_bzero(data, len);
		free(data);
		return ab_fail(err, AB_ESYSTEM, 0, "cannot read all of %s", path);
	}
	*ret = data;
	return 0;
}

static void add_masked(struct ab_safe *safe, char *path, char *data, size_t len, uint32_t mode)
{
	*ab_append(safe->files, safe->nfiles) =
		(struct ab_safe_file){ .path = path, .data = data, .len = len, .mode = mode };
}

static void note_hard_links(const char *path, const struct stat *st, struct ab_strv *ret_notes)
{
	if (st->st_nlink > 1)
		ab_strv_addf(ret_notes,
			     "%s has %ju hard links; the box sees the other names unmasked; "
			     "hide them with --deny-read",
			     path, (uintmax_t)st->st_nlink);
}

/* Members of clients' files that have tokens, besides the one that is exchanged. */
static bool is_token_name(const char *key)
{
	static const char *const names[] = { "access_token", "accessToken", "id_token",
					     "idToken",	     "access",	    "token" };

	return key && ab_has_word(names, AB_COUNT(names), key);
}

/* A client's file has the access token of its own login too: put the placeholder in its place.
 * NULL: it is not JSON, so that cannot be done. */
static char *cover_tokens(const char *data, size_t len, const char *placeholder, size_t *ret_len)
{
	ab_autoscan struct ab_json_scan json = { 0 };
	struct ab_buf out = { .wipe = true };
	size_t done = 0;

	if (ab_json_scan_parse(&json, data, len) < 0)
		return NULL;
	for (size_t i = 0; i < json.len; i++) {
		const struct ab_json_scan_node *n = &json.nodes[i];

		if (!n->text || !is_token_name(n->key))
			continue;
		ab_buf_add(&out, data + done, n->begin - done);
		ab_buf_json(&out, placeholder);
		done = n->end;
	}
	ab_buf_add(&out, data + done, len - done);
	*ret_len = out.len;
	return ab_buf_take(&out);
}

static int cover_file_tokens(const char *declared, const char *placeholder, char **data,
			     size_t *len, struct ab_error *err)
{
	size_t new_len = 0;
	char *fresh = cover_tokens(*data, *len, placeholder, &new_len);

	explicit_bzero(*data, *len);
	free(*data);
	*data = fresh;
	*len = new_len;
	if (fresh)
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "%s is not JSON, so its access token cannot be masked",
		declared);
	return ab_hint(err, "remove it from \"files\"; the box does not see it then");
}

/* A command of a source that has just written the file may have put another value into it than the one
 * that it, or the one before it, printed. */
static void settle_uncovered(struct ab_safe *safe, const char *declared, char *real,
			     const struct stat *st, struct ab_strv *ret_notes)
{
	if (!safe->ran.tv_sec || ab_time_later(safe->ran, st->st_ctim)) {
		free(real);
		ab_strv_addf(ret_notes,
			     "%s contains none of this run's secrets, so it is shown unchanged",
			     declared);
		return;
	}
	ab_strv_give(&safe->sources, real);
	ab_strv_addf(ret_notes,
		     "%s was written while a secret's command ran, and contains none of this run's "
		     "secrets, so it is hidden",
		     declared);
}

/* `tokens`: the placeholder of access tokens in it, or NULL. */
static int cover_file(struct ab_safe *safe, const char *declared, const char *tokens,
		      struct ab_strv *ret_notes, struct ab_error *err)
{
	ab_autofree char *real = realpath(declared, NULL);
	ab_autoclose int fd = real ? ab_host_path_open(real) : -1;
	char *data = NULL, *covered;
	struct stat st;
	size_t len, size;

	/* The box has our identity: it cannot read what we cannot. */
	if (fd < 0 || fstat(fd, &st) < 0 || is_masked(safe, real))
		return 0;
	/* The box would read a FIFO's bytes unmasked. */
	if (!S_ISREG(st.st_mode)) {
		ab_fail(err, AB_EUSAGE, 0,
			"%s is not a regular file, so its secrets cannot be masked", declared);
		ab_hint(err, "remove it from \"files\" and hide it: --deny-read %s", declared);
		return ab_step(err, "secrets");
	}
	note_hard_links(declared, &st, ret_notes);
	size = (size_t)st.st_size;
	if (read_whole(fd, declared, &data, size, err) < 0 ||
	    (tokens && cover_file_tokens(declared, tokens, &data, &size, err) < 0))
		return -1;
	covered = ab_vault_cover(safe->vault, data, size, &len);
	if (!covered && tokens) {
		covered = ab_strndup(data, size);
		len = size;
	}
	explicit_bzero(data, size);
	free(data);
	if (covered)
		add_masked(safe, ab_take(real), covered, len, st.st_mode & 0555);
	else
		settle_uncovered(safe, declared, ab_take(real), &st, ret_notes);
	return 0;
}

int ab_safe_show_file(struct ab_safe *safe, const struct ab_secret *secret, const char *data,
		      size_t len, struct ab_error *err)
{
	ab_autofree char *real = realpath(secret->file, NULL);

	if (!real)
		return ab_fail(err, AB_EUSAGE, errno, "secret %s: cannot open %s", secret->name,
			       secret->file);
	add_masked(safe, ab_take(real), ab_strndup(data, len), len, 0400);
	return 0;
}

int ab_safe_read_files(struct ab_safe *safe, const struct ab_policy *policy,
		       struct ab_strv *ret_notes, struct ab_error *err)
{
	for (size_t i = 0; i < safe->sources.len; i++) {
		struct stat st;

		if (stat(safe->sources.v[i], &st) == 0)
			note_hard_links(safe->sources.v[i], &st, ret_notes);
	}
	for (size_t i = 0; i < policy->secrets.len; i++) {
		const struct ab_secret *secret = &policy->secrets.v[i];
		const struct ab_strv *files = &secret->files;
		const char *tokens = secret->oauth && !secret->part
					     ? ab_vault_at(safe->vault, i)->placeholder
					     : NULL;

		/* Part 1 has the same ones. */
		for (size_t k = 0; k < files->len && !(secret->oauth && secret->part); k++)
			if (cover_file(safe, files->v[k], tokens, ret_notes, err) < 0)
				return -1;
	}
	ab_strv_extend(&safe->hidden, &safe->sources);
	for (size_t i = 0; i < safe->nfiles; i++)
		ab_strv_add_once(&safe->hidden, safe->files[i].path);
	return 0;
}

void ab_safe_guard(const struct ab_safe *safe, struct ab_facts *facts)
{
	for (size_t i = 0; i < safe->nfiles; i++)
		ab_objects_add(&facts->closed, safe->files[i].path, AB_AS_FILE);
	for (size_t i = 0; i < safe->sources.len; i++)
		if (!is_masked(safe, safe->sources.v[i]))
			ab_objects_add(&facts->masked, safe->sources.v[i], AB_AS_FILE);
}
