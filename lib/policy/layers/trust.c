#include "policy/layers/trust.h"

#include "base/system/folder.h"
#include "base/system/new_file.h"
#include "base/system/own_path.h"
#include "base/text/sha256.h"
#include "base/text/text_diff.h"
#include "policy/layers/compare.h"
#include "policy/layers/load.h"
#include "policy/read/settings_file.h"
#include "policy/values/paths.h"

/*
 * A record is a small header, then the text that was trusted:
 *
 *	agentbox-trust 1\n
 *	<sha256 of the text>\n
 *	<real path>\n
 *	<text>
 *
 * in STATE/trust/<sha256 of the real path>.
 */
static const char magic[] = "agentbox-trust 1\n";

enum { RECORD_MAX = AB_FILE_MAX + PATH_MAX + 256 };

struct record {
	char *data;
	const char *sha256; /* 64 digits, not terminated */
	const char *text;
	size_t len;
};

static char *real_path(const char *path)
{
	ab_autofree char *dir = ab_path_parent(path);
	char real[PATH_MAX];

	return realpath(dir, real) ? ab_path_join(real, ab_path_name(path)) : NULL;
}

static char *record_path(const char *state_dir, const char *real)
{
	char name[65];

	ab_sha256(real, strlen(real), name);
	return ab_printf("%s/trust/%s", state_dir, name);
}

/* A record counts only if we own the file and nobody else can write it. */
static bool is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 022);
}

static bool read_record(const char *state_dir, const char *real, struct record *ret)
{
	ab_autofree char *path = record_path(state_dir, real);
	ab_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size_t at = sizeof(magic) - 1, n = strlen(real), len;
	ab_autofree char *data = NULL;

	if (fd < 0 || !is_ours(fd) || ab_read_all(fd, RECORD_MAX, &data, &len) < 0)
		return false;
	if (len < at + 65 + n + 1 || memcmp(data, magic, at) != 0 || data[at + 64] != '\n' ||
	    memcmp(data + at + 65, real, n) != 0 || data[at + 65 + n] != '\n')
		return false;
	ret->sha256 = data + at;
	ret->text = data + at + 65 + n + 1;
	ret->len = len - (at + 65 + n + 1);
	ret->data = ab_take(data);
	return true;
}

static enum ab_trust_state compare_record(const struct record *r, const char *text, size_t len)
{
	char sha256[65];

	ab_sha256(text, len, sha256);
	return memcmp(r->sha256, sha256, 64) == 0 && r->len == len &&
			       memcmp(r->text, text, len) == 0
		       ? AB_TRUST_HOLDS
		       : AB_TRUST_CHANGED;
}

enum ab_trust_state ab_trust_check(const char *state_dir, const char *path, const char *text,
				   size_t len)
{
	ab_autofree char *real = real_path(path);
	enum ab_trust_state state;
	struct record r;

	if (!real || !read_record(state_dir, real, &r))
		return AB_TRUST_NONE;
	state = compare_record(&r, text, len);
	free(r.data);
	return state;
}

/* Find the project file and its folder. */
static int locate_file(const struct ab_policy_input *in, const char *file, char **ret_real,
		       char **ret_dir, struct ab_error *err)
{
	ab_autofree char *path = NULL, *real = NULL;
	const char *base = in->workspace ? in->workspace : ".";

	if (file) {
		path = ab_path_resolve(file, in->cwd, in->home);
	} else {
		ab_autofree char *dir = ab_path_resolve(base, in->cwd, in->home);

		path = dir ? ab_path_join(dir, AB_PROJECT_CONFIG) : NULL;
	}
	if (!path)
		return ab_fail(err, AB_EUSAGE, 0, "\"%s\" is not a file", file ? file : base);
	real = real_path(path);
	if (!real)
		return ab_fail(err, AB_EUSAGE, errno, "%s", path);
	if (strcmp(ab_path_name(real), AB_PROJECT_CONFIG) != 0) {
		ab_fail(err, AB_EUSAGE, 0,
			"%s is not a project file; only project files need trust", path);
		return ab_hint(err, "a project file is called %s", AB_PROJECT_CONFIG);
	}
	*ret_dir = ab_path_parent(real);
	*ret_real = ab_take(real);
	return 0;
}

static int state_dir(const struct ab_policy_input *in, char **ret, struct ab_error *err)
{
	*ret = ab_state_dir(in->environ, in->home, in->cwd);
	if (*ret)
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "there is no folder for agentbox's state");
	return ab_hint(err, "set HOME or AGENTBOX_STATE");
}

/* List what the file would change: compare the policy with and without it. */
static int list_effects(const struct ab_policy_input *in, const char *dir,
			struct ab_trust_review *r, struct ab_error *err)
{
	struct ab_policy_input at = *in;
	struct ab_policy *with = NULL, *without = NULL;
	struct ab_project file = { r->text, r->len };
	int ret = -1;

	at.workspace = dir;
	if (ab_load_policy(&at, false, NULL, &without, NULL, err) == 0 &&
	    ab_load_policy(&at, false, &file, &with, NULL, err) == 0) {
		ab_policy_wider(without, with, &r->widens);
		ab_policy_wider(with, without, &r->tightens);
		ret = 0;
	}
	ab_policy_free(with);
	ab_policy_free(without);
	return ret;
}

/* Read the project file; find its folder and the folder of records. */
static int open_file(const struct ab_policy_input *in, const char *file, struct ab_trust_review *r,
		     char **ret_dir, char **ret_state, struct ab_error *err)
{
	if (locate_file(in, file, &r->path, ret_dir, err) < 0 ||
	    state_dir(in, ret_state, err) < 0 ||
	    ab_settings_file_read(r->path, r->path, true, &r->text, &r->len, err) < 0)
		return -1;
	if (!r->text)
		return ab_fail(err, AB_EUSAGE, 0, "%s does not exist", r->path);
	return 0;
}

int ab_trust_status(const struct ab_policy_input *in, const char *file,
		    enum ab_trust_state *ret_state, struct ab_error *err)
{
	struct ab_trust_review r = { .state = AB_TRUST_NONE };
	ab_autofree char *dir = NULL, *state = NULL;
	int ret = open_file(in, file, &r, &dir, &state, err);

	if (ret == 0)
		*ret_state = ab_trust_check(state, r.path, r.text, r.len);
	ab_trust_review_fini(&r);
	return ret;
}

static int review_file(const struct ab_policy_input *in, const char *file,
		       struct ab_trust_review *r, struct ab_error *err)
{
	ab_autofree char *dir = NULL, *state = NULL;
	struct record record = { 0 };

	if (open_file(in, file, r, &dir, &state, err) < 0)
		return -1;
	ab_sha256(r->text, r->len, r->sha256);
	if (read_record(state, r->path, &record))
		r->state = compare_record(&record, r->text, r->len);
	ab_text_diff(record.text, record.len, r->text, r->len, &r->diff);
	free(record.data);
	return list_effects(in, dir, r, err);
}

int ab_trust_review(const struct ab_policy_input *in, const char *file,
		    struct ab_trust_review *ret_review, struct ab_error *err)
{
	struct ab_trust_review r = { .state = AB_TRUST_NONE };

	if (review_file(in, file, &r, err) < 0) {
		ab_trust_review_fini(&r);
		return -1;
	}
	*ret_review = r;
	return 0;
}

void ab_trust_review_fini(struct ab_trust_review *r)
{
	ab_free_all(r->path, r->text);
	ab_strv_fini_all(&r->diff, &r->widens, &r->tightens);
	*r = (struct ab_trust_review){ .state = AB_TRUST_NONE };
}

int ab_trust_record(const struct ab_policy_input *in, const struct ab_trust_review *review_of,
		    struct ab_error *err)
{
	ab_autofree char *state = NULL, *path = NULL, *dir = NULL, *failed = NULL;
	ab_autobuf struct ab_buf b = { 0 };
	ab_autoclose int folder = -1;

	if (state_dir(in, &state, err) < 0)
		return -1;
	path = record_path(state, review_of->path);
	dir = ab_path_parent(path);
	ab_buf_printf(&b, "%s%s\n%s\n", magic, review_of->sha256, review_of->path);
	ab_buf_add(&b, review_of->text, review_of->len);
	failed = ab_folder_make_all(dir, 0700);
	if (failed)
		return ab_fail(err, AB_ESYSTEM, errno, "%s", dir);
	folder = ab_own_path_open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return ab_fail(err, AB_ESYSTEM, 0, "a link of another user leads to %s", dir);
	if (ab_new_file_write(folder, ab_path_name(path), NULL, b.data, b.len, 0) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "%s", path);
	return 0;
}

int ab_trust_revoke(const struct ab_policy_input *in, const char *file, bool *ret_had,
		    struct ab_error *err)
{
	ab_autofree char *real = NULL, *dir = NULL, *state = NULL, *path = NULL;

	if (locate_file(in, file, &real, &dir, err) < 0 || state_dir(in, &state, err) < 0)
		return -1;
	path = record_path(state, real);
	*ret_had = unlink(path) == 0;
	if (!*ret_had && errno != ENOENT)
		return ab_fail(err, AB_ESYSTEM, errno, "%s", path);
	return 0;
}
