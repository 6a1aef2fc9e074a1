#include "layer/store/meta.h"

#include <jansson.h>

#include "layer/store/store.h"
#include "workspace/quarantine/journal.h"
#include "workspace/tree/names.h"

enum {
	VERSION = 1,
	WORD_MAX = 128, /* bytes of a name, a profile, a kernel release, a digest */
	ID_MAX = 7,
	PLACEHOLDER_MAX = 48, /* bytes that are kept: the prefix, and more than can be guessed */
};

static const char *const forms[] = {
	[AB_LAYER_FORM_NONE] = "none",
	[AB_LAYER_FORM_OVERLAY] = "overlay",
	[AB_LAYER_FORM_COPY] = "copy",
};

/*
 * A path may have bytes that are not UTF-8, which JSON cannot hold: they and "%" are written as
 * %XX, so that a path is read back as it was.
 */
static char *encode_path(const char *path)
{
	struct ab_buf text = { 0 };
	size_t left = strlen(path);

	while (left > 0) {
		uint32_t c;
		size_t n = ab_utf8_get(path, left, &c);

		if (n == 0 || *path == '%') {
			ab_buf_printf(&text, "%%%02X", (unsigned char)*path);
			n = 1;
		} else {
			ab_buf_add(&text, path, n);
		}
		path += n;
		left -= n;
	}
	return ab_buf_take(&text);
}

/* NULL: not a text that encode_path() writes. */
static char *read_path(const char *text)
{
	ab_autofree char *path = ab_journal_get_path(text);

	return path && strlen(path) <= PATH_MAX ? ab_take(path) : NULL;
}

static bool is_clean(const char *path)
{
	ab_autofree char *clean = ab_path_resolve(path, "/", NULL);

	return path[0] == '/' && clean && strcmp(clean, path) == 0;
}

static bool is_run_id(const char *id)
{
	size_t len = strlen(id);

	for (size_t i = 0; i < len; i++)
		if (!ab_is_digit(id[i]) && !(id[i] >= 'a' && id[i] <= 'z'))
			return false;
	return len > 0 && len <= ID_MAX;
}

/* An empty one would be found everywhere. */
static bool is_placeholder(const char *text)
{
	return text[0] && strlen(text) <= PLACEHOLDER_MAX;
}

static int reject_meta(struct ab_error *err, const char *what)
{
	return ab_fail(err, AB_ECONFIG, 0, "%s", what);
}

/* A text, or null where `ret` may be NULL. */
static int read_word(const json_t *file, const char *key, bool optional, char **ret,
		     struct ab_error *err)
{
	const json_t *value = json_object_get(file, key);
	const char *text = json_string_value(value);

	if (optional && json_is_null(value))
		return 0;
	if (!text || strlen(text) > WORD_MAX)
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a short text", key);
	*ret = ab_strdup(text);
	return 0;
}

static int read_number(const json_t *file, const char *key, int64_t least, int64_t *ret,
		       struct ab_error *err)
{
	const json_t *value = json_object_get(file, key);

	if (!json_is_integer(value) || json_integer_value(value) < least)
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a valid number", key);
	*ret = json_integer_value(value);
	return 0;
}

static int read_folder(const json_t *file, const char *key, bool optional, char **ret,
		       struct ab_error *err)
{
	const char *text = json_string_value(json_object_get(file, key));
	ab_autofree char *path = text ? read_path(text) : NULL;

	if (!path || !((optional && !*path) || is_clean(path)))
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a path", key);
	*ret = ab_take(path);
	return 0;
}

static int read_list(const json_t *file, const char *key, size_t most, bool (*is)(const char *text),
		     struct ab_strv *ret, struct ab_error *err)
{
	const json_t *list = json_object_get(file, key), *value;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > most)
		return ab_fail(err, AB_ECONFIG, 0, "%s is not a short list", key);
	json_array_foreach(list, i, value)
	{
		const char *text = json_string_value(value);

		if (!text || !is(text))
			return ab_fail(err, AB_ECONFIG, 0, "%s has an entry that is not valid",
				       key);
		ab_strv_add(ret, text);
	}
	return 0;
}

static int read_return(json_t *value, struct ab_layer_file *ret, struct ab_error *err)
{
	json_int_t ino, size, mtime, ctime;
	const char *path;
	json_error_t wrong;
	int exists;

	if (json_unpack_ex(value, &wrong, JSON_STRICT, "{s:s,s:b,s:I,s:I,s:I,s:I}", "path", &path,
			   "exists", &exists, "ino", &ino, "size", &size, "mtime", &mtime, "ctime",
			   &ctime) < 0)
		return ab_fail(err, AB_ECONFIG, 0, "returns: %s", wrong.text);
	ret->path = read_path(path);
	if (!ret->path || !ab_name_is_clean(ret->path))
		return reject_meta(err, "returns has an entry that is not a path below home");
	ret->exists = exists != 0;
	ret->ino = (uint64_t)ino;
	ret->size = (uint64_t)size;
	ret->mtime_ns = mtime;
	ret->ctime_ns = ctime;
	return 0;
}

static int read_returns(const json_t *file, struct ab_layer_meta *ret, struct ab_error *err)
{
	json_t *list = json_object_get(file, "returns"), *value;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > AB_LAYER_RETURNS_MAX)
		return reject_meta(err, "returns is not a short list");
	json_array_foreach(list, i, value)
	{
		struct ab_layer_file *row = ab_append(ret->returns, ret->nreturns);

		*row = (struct ab_layer_file){ 0 };
		if (read_return(value, row, err) < 0)
			return -1;
	}
	return 0;
}

static int read_form(const json_t *file, enum ab_layer_form *ret, struct ab_error *err)
{
	const char *text = json_string_value(json_object_get(file, "form"));

	return ab_word_parse(forms, text, ret) ? 0 : reject_meta(err, "form is unknown");
}

/* Another release may have written other keys, whose meaning is not known here. */
static int check_keys(json_t *file, struct ab_error *err)
{
	static const char *const known[] = {
		"version",	"key",	   "name",    "profile", "workspace", "home",
		"kernel",	"policy",  "created", "started", "used",      "runs",
		"placeholders", "returns", "form",    "project", "waiting",
	};
	const char *key;
	json_t *value;
	size_t n = 0;

	json_object_foreach(file, key, value)
	{
		if (!ab_has_word(known, AB_COUNT(known), key))
			return reject_meta(err, "it has an unknown key");
		n++;
	}
	return n == AB_COUNT(known) ? 0 : reject_meta(err, "a key is missing");
}

static int read_file(json_t *file, struct ab_layer_meta *ret, struct ab_error *err)
{
	int64_t version = 0;

	if (!json_is_object(file))
		return reject_meta(err, "it is not an object");
	if (read_number(file, "version", 0, &version, err) < 0)
		return -1;
	if (version != VERSION)
		return reject_meta(err, "another release of agentbox wrote it");
	/* Written before there was such a list. */
	if (!json_object_get(file, "placeholders"))
		json_object_set_new(file, "placeholders", json_array());
	if (check_keys(file, err) < 0 || read_word(file, "key", false, &ret->key, err) < 0)
		return -1;
	if (!ab_layer_key_valid(ret->key))
		return reject_meta(err, "key is not valid");
	if (read_word(file, "name", true, &ret->name, err) < 0 ||
	    read_word(file, "profile", true, &ret->profile, err) < 0 ||
	    read_word(file, "kernel", true, &ret->kernel, err) < 0 ||
	    read_word(file, "policy", true, &ret->policy, err) < 0 ||
	    read_folder(file, "workspace", true, &ret->workspace, err) < 0 ||
	    read_folder(file, "home", true, &ret->home, err) < 0 ||
	    read_number(file, "created", 0, &ret->created_ns, err) < 0 ||
	    read_number(file, "started", 0, &ret->first_ns, err) < 0 ||
	    read_number(file, "used", 0, &ret->last_ns, err) < 0 ||
	    read_number(file, "project", 0, &ret->project_ns, err) < 0 ||
	    read_number(file, "waiting", -1, &ret->waiting, err) < 0)
		return -1;
	if (read_list(file, "runs", AB_LAYER_RUNS_MAX, is_run_id, &ret->runs, err) < 0 ||
	    read_list(file, "placeholders", AB_LAYER_PLACEHOLDERS_MAX, is_placeholder,
		      &ret->placeholders, err) < 0 ||
	    read_returns(file, ret, err) < 0)
		return -1;
	return read_form(file, &ret->form, err);
}

int ab_layer_meta_read(const char *text, size_t len, struct ab_layer_meta *ret,
		       struct ab_error *err)
{
	struct ab_layer_meta meta = { 0 };
	json_auto_t *file = NULL;
	json_error_t wrong;
	int result;

	if (len > AB_LAYER_META_MAX)
		return reject_meta(err, "it is too large");
	file = json_loadb(text, len, JSON_REJECT_DUPLICATES, &wrong);
	if (!file)
		return reject_meta(err, wrong.text);
	result = read_file(file, &meta, err);
	if (result < 0)
		ab_layer_meta_fini(&meta);
	else
		*ret = meta;
	return result;
}

void ab_layer_meta_write(const struct ab_layer_meta *meta, struct ab_buf *ret)
{
	ab_autofree char *workspace = encode_path(meta->workspace ? meta->workspace : "");
	ab_autofree char *home = encode_path(meta->home ? meta->home : "");

	ab_buf_jsonf(ret,
		     "{'version':%d,\n'key':%s,\n'name':%s,\n'profile':%s,\n'workspace':%s,\n"
		     "'home':%s,\n'kernel':%s,\n'policy':%s,\n'created':%jd,\n'started':%jd,\n"
		     "'used':%jd,\n'runs':%p,\n'placeholders':%p,\n'returns':[",
		     VERSION, meta->key, meta->name, meta->profile, workspace, home, meta->kernel,
		     meta->policy, meta->created_ns, meta->first_ns, meta->last_ns,
		     ab_list(&meta->runs), ab_list(&meta->placeholders));
	for (size_t i = 0; i < meta->nreturns; i++) {
		const struct ab_layer_file *f = &meta->returns[i];
		ab_autofree char *path = encode_path(f->path);

		ab_buf_jsonf(ret,
			     ",\n{'path':%s,'exists':%hhd,'ino':%jd,'size':%jd,'mtime':%jd,"
			     "'ctime':%jd}",
			     path, f->exists, (intmax_t)f->ino, (intmax_t)f->size, f->mtime_ns,
			     f->ctime_ns);
	}
	ab_buf_jsonf(ret, "],\n'form':%s,\n'project':%jd,\n'waiting':%jd}\n", forms[meta->form],
		     meta->project_ns, (intmax_t)meta->waiting);
}

void ab_layer_meta_fini(struct ab_layer_meta *meta)
{
	ab_free_all(meta->key, meta->name, meta->profile, meta->workspace, meta->home, meta->kernel,
		    meta->policy);
	ab_strv_fini_all(&meta->runs, &meta->placeholders);
	ab_free_rows(meta->returns, meta->nreturns, path);
	*meta = (struct ab_layer_meta){ 0 };
}

void ab_layer_meta_add_run(struct ab_layer_meta *meta, const char *id)
{
	while (meta->runs.len >= AB_LAYER_RUNS_MAX)
		ab_strv_remove(&meta->runs, 0);
	ab_strv_add(&meta->runs, id);
}

void ab_layer_meta_add_placeholder(struct ab_layer_meta *meta, const char *text)
{
	ab_autofree char *kept = ab_strndup(text, strnlen(text, PLACEHOLDER_MAX));

	if (meta->placeholders.len < AB_LAYER_PLACEHOLDERS_MAX)
		ab_strv_add_once(&meta->placeholders, kept);
}

static int64_t to_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static struct ab_layer_file describe_file(const struct stat *st)
{
	struct ab_layer_file file = { .exists = st != NULL };

	if (st) {
		file.ino = st->st_ino;
		file.size = (uint64_t)st->st_size;
		file.mtime_ns = to_ns(&st->st_mtim);
		file.ctime_ns = to_ns(&st->st_ctim);
	}
	return file;
}

const struct ab_layer_file *ab_layer_meta_return(const struct ab_layer_meta *meta, const char *path)
{
	return ab_find_row(meta->returns, meta->nreturns, path, path);
}

void ab_layer_meta_set_return(struct ab_layer_meta *meta, const char *path, const struct stat *st)
{
	struct ab_layer_file *file = (struct ab_layer_file *)ab_layer_meta_return(meta, path);
	char *kept;

	if (!file) {
		if (meta->nreturns == AB_LAYER_RETURNS_MAX)
			return;
		file = ab_append(meta->returns, meta->nreturns);
		file->path = ab_strdup(path);
	}
	kept = file->path;
	*file = describe_file(st);
	file->path = kept;
}

bool ab_layer_file_same(const struct ab_layer_file *file, const struct stat *st)
{
	struct ab_layer_file now = describe_file(st);

	return file->exists == now.exists && file->ino == now.ino && file->size == now.size &&
	       file->mtime_ns == now.mtime_ns && file->ctime_ns == now.ctime_ns;
}
