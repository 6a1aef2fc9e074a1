#include "steer/import/import.h"

#include <inttypes.h>

#include "base/text/guess.h"
#include "base/text/json_scan.h"
#include "base/text/toml.h"
#include "base/text/words.h"
#include "steer/import/imported.h"

/* How a row relates to a path: "a.b" against "a" and so on. "*" stands for one key. */
enum fit { FIT_NONE, FIT_ABOVE, FIT_EXACT };

static enum fit fit_row(const char *row, const char *path)
{
	for (;;) {
		size_t n = strcspn(row, ". "), m = strcspn(path, ".");
		bool any = n == 1 && row[0] == '*', more = row[n] == '.';

		if (!any && (n != m || memcmp(row, path, n) != 0))
			return FIT_NONE;
		/* The rest of a variable's name may have dots. */
		if (any && !more)
			return FIT_EXACT;
		if (!more || !path[m])
			return more ? FIT_ABOVE : path[m] ? FIT_NONE : FIT_EXACT;
		row += n + 1;
		path += m + 1;
	}
}

static const struct ab_import_row *find_row(const struct ab_imported *im, const char *path,
					    enum fit *ret)
{
	*ret = FIT_NONE;
	for (size_t i = 0; i < im->format->nrows; i++) {
		const char *list = im->format->rows[i].paths, *one;

		for (size_t n; (one = ab_word_next(&list, &n));) {
			enum fit fit = fit_row(one, path);

			*ret = fit != FIT_NONE ? fit : *ret;
			if (fit == FIT_EXACT)
				return &im->format->rows[i];
		}
	}
	return NULL;
}

static const char *get_scalar(const struct ab_json_scan_node *node, char buf[32])
{
	if (node->text)
		return node->text;
	snprintf(buf, 32, "%" PRId64, node->integer);
	return node->kind == 't'   ? "true"
	       : node->kind == 'f' ? "false"
	       : node->kind == '0' ? buf
				   : NULL;
}

static void add_value(struct ab_imported *im, const struct ab_import_row *row,
		      const struct ab_json_scan_node *node)
{
	const char *key = strrchr(im->path, '.');
	char buf[32];
	const char *value = get_scalar(node, buf);

	im->line = node->line;
	if (value)
		ab_imported_add(im, row, key ? key + 1 : im->path, value);
	else
		ab_imported_leave(im, NULL, "an entry of this form has no counterpart");
}

static void read_json_value(struct ab_imported *im, const char *path,
			    const struct ab_json_scan_node *node);

static void read_members(struct ab_imported *im, const char *path,
			 const struct ab_json_scan_node *object)
{
	ab_json_scan_each(k, object)
	{
		ab_autofree char *below =
			path[0] ? ab_printf("%s.%s", path, k->key) : ab_strdup(k->key);

		read_json_value(im, below, k);
	}
}

/* The depth is bounded by the reader. */
static void read_json_value(struct ab_imported *im, const char *path,
			    const struct ab_json_scan_node *node)
{
	enum fit fit;
	const struct ab_import_row *row = find_row(im, path, &fit);

	im->line = node->line;
	im->path = path;
	if (row && (row->as == AB_IMPORT_NOTHING || row->as == AB_IMPORT_LEFT)) {
		ab_imported_add(im, row, path, "");
	} else if (row && node->kind == '[') {
		ab_json_scan_each(e, node) add_value(im, row, e);
	} else if (row) {
		add_value(im, row, node);
	} else if (fit == FIT_ABOVE && node->kind == '{') {
		read_members(im, path, node);
	} else {
		ab_imported_leave(im, NULL, "has no counterpart");
	}
}

static int read_json(struct ab_imported *im, const char *name, const char *text, size_t len,
		     struct ab_error *err)
{
	ab_autoscan struct ab_json_scan scan = { 0 };

	if (ab_json_scan_parse(&scan, text, len) < 0) {
		ab_fail(err, AB_ECONFIG, 0, "%s:%u:%u: %s", name, scan.line, scan.column,
			scan.wrong);
		return ab_hint(err, "%s", scan.right);
	}
	if (scan.nodes->kind != '{')
		return ab_fail(err, AB_ECONFIG, 0, "%s is not an object of settings", name);
	read_members(im, "", scan.nodes);
	return 0;
}

struct toml {
	struct ab_imported *im;
	struct ab_strv told; /* tables that have no counterpart: one line for each */
};

static void read_toml_value(void *arg, const struct ab_toml_value *v)
{
	struct toml *t = arg;
	ab_autobuf struct ab_buf path = { 0 };
	const struct ab_import_row *row;
	enum fit fit;

	for (size_t i = 0; i < v->nkeys; i++)
		ab_buf_printf(&path, "%s%s", i ? "." : "", v->keys[i]);
	row = find_row(t->im, path.data, &fit);
	t->im->line = v->line;
	t->im->path = row || fit != FIT_NONE ? path.data : v->keys[0];
	if (row) {
		ab_imported_add(t->im, row, v->keys[v->nkeys - 1], v->text);
		return;
	}
	if (t->told.len > AB_IMPORTED_LEFT || ab_strv_has(&t->told, v->keys[0]))
		return;
	ab_strv_add(&t->told, v->keys[0]);
	ab_imported_leave(t->im, NULL, "has no counterpart");
}

static int read_toml(struct ab_imported *im, const char *name, const char *text, size_t len,
		     struct ab_error *err)
{
	struct toml t = { .im = im };
	unsigned line = 0;
	int r = ab_toml_scan(text, len, read_toml_value, &t, &line);

	ab_strv_fini(&t.told);
	return r < 0 ? ab_fail(err, AB_ECONFIG, 0, "%s:%u: not valid TOML", name, line) : 0;
}

static int refuse_format(const char *format, struct ab_error *err)
{
	static const char *const known[] = { "srt", "claude-code", "codex", "nono" };
	const char *guess = ab_guess(format, known, AB_COUNT(known));

	ab_fail(err, AB_EUSAGE, 0, "unknown format \"%s\"", format);
	if (guess)
		return ab_hint(err, "did you mean %s?", guess);
	return ab_hint(err, "use srt, claude-code, codex or nono");
}

int ab_import_read(const char *format, const char *name, const char *text, size_t len,
		   struct ab_import *ret, struct ab_error *err)
{
	struct ab_imported im = { .format = ab_import_format_find(format), .left = &ret->left };
	int r;

	*ret = (struct ab_import){ 0 };
	if (!im.format)
		return refuse_format(format, err);
	r = im.format->toml ? read_toml(&im, name, text, len, err)
			    : read_json(&im, name, text, len, err);
	if (r == 0)
		ret->settings = ab_imported_text(&im);
	else
		ab_strv_fini(&ret->left);
	ab_imported_fini(&im);
	return r;
}

void ab_import_fini(struct ab_import *import)
{
	free(import->settings);
	ab_strv_fini(&import->left);
	import->settings = NULL;
}
