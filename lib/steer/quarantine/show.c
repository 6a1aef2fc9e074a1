#include "audit/read/query.h"
#include "audit/read/words.h"
#include "base/text/base64.h"
#include "base/text/text_diff.h"
#include "steer/quarantine/content.h"
#include "steer/quarantine/quarantined_state.h"
#include "workspace/tree/dir.h"

enum {
	SHOWN = 64 << 10, /* bytes of a file */
	ENTRIES = 200,	  /* of a folder */
	DEPTH = 8,
};

struct content {
	char *data; /* NULL: not a file that can be read */
	size_t len;
	bool cut;
	bool text;
};

/* Only the box knows what it is by now: a FIFO must not block us. */
static void read_content(int dir, const char *name, struct content *ret)
{
	ab_autoclose int fd =
		openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	ret->data = ab_alloc(SHOWN + 1);
	n = ab_read_full(fd, ret->data, SHOWN + 1);
	ret->cut = n > SHOWN;
	ret->len = ret->cut ? SHOWN : n > 0 ? (size_t)n : 0;
}

struct tree {
	struct ab_strv lines; /* "hooks/pre-commit  12 B", not escaped */
	bool cut;
};

static void list_tree(struct tree *t, int dir, const char *name, const char *above, unsigned depth)
{
	ab_autolisting struct ab_listing l = { 0 };
	ab_autoclose int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char size[AB_AMOUNT_ROOM];
	struct stat st;

	if (fd < 0 || ab_listing_read(&l, fd, ENTRIES) < 0 || l.cut)
		t->cut = true;
	for (size_t i = 0; i < l.len; i++) {
		ab_autofree char *path = ab_printf("%s%s", above, l.v[i].name);

		if (t->lines.len == ENTRIES) {
			t->cut = true;
			return;
		}
		if (fstatat(fd, l.v[i].name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			ab_autofree char *folder = ab_printf("%s/", path);

			ab_strv_add(&t->lines, folder);
			if (depth < DEPTH)
				list_tree(t, fd, l.v[i].name, folder, depth + 1);
			else
				t->cut = true;
		} else {
			ab_strv_addf(
				&t->lines, "%s  %s%s", path,
				S_ISLNK(st.st_mode) ? "a symbolic link"
						    : ab_words_size((uint64_t)st.st_size, size),
				S_ISREG(st.st_mode) && st.st_mode & 0111 ? ", executable" : "");
		}
	}
}

/* What is in its place now; data is NULL if that is not a file. */
static bool read_present(const struct ab_quarantined *is, struct content *ret)
{
	ab_autofree char *parent = is->path ? ab_path_parent(is->path) : NULL;
	ab_autoclose int dir =
		parent ? ab_open_beneath(AT_FDCWD, parent, O_PATH | O_DIRECTORY) : -1;
	struct stat st;

	if (dir < 0 || fstatat(dir, ab_path_name(is->path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	read_content(dir, ab_path_name(is->path), ret);
	return true;
}

struct view {
	const struct ab_quarantined *is;
	struct content then, now;
	struct tree tree;
	char target[PATH_MAX]; /* of a link */
	bool present;	       /* something is in its place now */
	struct ab_strv diff;   /* from that to this, escaped */
};

static void make_view(const struct ab_quarantined_one *one, struct view *v)
{
	v->is = &one->is;
	if (one->is.kind == AB_NODE_FILE)
		read_content(one->dir, one->is.file, &v->then);
	if (one->is.kind == AB_NODE_DIR)
		list_tree(&v->tree, one->dir, one->is.file, "", 0);
	if (one->is.kind == AB_NODE_LINK) {
		ssize_t n = readlinkat(one->dir, one->is.file, v->target, sizeof(v->target) - 1);

		v->target[n > 0 ? n : 0] = '\0';
	}
	v->present = read_present(&one->is, &v->now);
	v->then.text = v->then.data && ab_content_is_text(v->then.data, v->then.len);
	v->now.text = v->now.data && ab_content_is_text(v->now.data, v->now.len);
	if (v->then.text && v->now.text && !v->then.cut && !v->now.cut)
		ab_text_diff(v->now.data, v->now.len, v->then.data, v->then.len, &v->diff);
}

static void add_content(const struct view *v, struct ab_buf *b)
{
	const struct content *c = &v->then;

	if (v->is->kind == AB_NODE_LINK) {
		ab_words_safe(b, "It leads to %s\n", v->target);
	} else if (v->is->kind == AB_NODE_DIR) {
		ab_buf_puts(b, v->tree.lines.len ? "It contains:\n" : "It is empty.\n");
		for (size_t i = 0; i < v->tree.lines.len; i++)
			ab_words_safe(b, "  %s\n", v->tree.lines.v[i]);
		ab_buf_puts(b, v->tree.cut ? "  and more\n" : "");
	} else if (!c->data) {
		ab_buf_puts(b, "It cannot be read.\n");
	} else if (c->text) {
		ab_buf_puts(b, c->len ? "Content:\n" : "It is empty.\n");
		ab_content_put_lines(b, c->data, c->len);
	} else {
		ab_buf_puts(b, "Content (not text), first bytes:\n");
		ab_content_put_hex(b, c->data, c->len);
	}
	if (c->cut)
		ab_buf_printf(b, "  (only the first %d KiB)\n", SHOWN >> 10);
}

static void add_present(const struct view *v, struct ab_buf *b)
{
	if (!v->present)
		return;
	ab_buf_puts(b, "\nSomething is in its place now");
	if (v->diff.len) {
		ab_buf_puts(b, "; the difference from that:\n");
		for (size_t i = 0; i < v->diff.len; i++)
			ab_buf_printf(b, "  %s\n", v->diff.v[i]);
	} else if (v->then.text && v->now.text && !v->then.cut && !v->now.cut) {
		ab_buf_puts(b, ", with the same content.\n");
	} else {
		ab_buf_puts(b, ".\n");
	}
}

static char *make_text(const struct view *v)
{
	const struct ab_quarantined *q = v->is;
	ab_autofree char *what = ab_quarantined_describe(q);
	char local[AB_LOCAL_ROOM];
	struct ab_buf b = { 0 };

	ab_words_safe(&b, "%s  %s\n", q->id, q->path ? q->path : q->file);
	ab_words_safe(&b, "%s, moved to quarantine by run %s at %s\n", what, q->run,
		      ab_time_local(q->stamp, local));
	ab_words_safe(&b, "%s%s%s%s\n", q->entry ? "protected name " : "", q->entry ? q->entry : "",
		      q->entry ? ": " : "", q->why);
	ab_buf_puts(&b, "\n");
	add_content(v, &b);
	add_present(v, &b);
	ab_buf_printf(&b, "\nto put it back: agentbox quarantine restore %s%s\n", q->id,
		      !q->path	   ? " --to PATH"
		      : v->present ? " --force"
				   : "");
	return ab_buf_take(&b);
}

static void add_json_content(const struct content *c, struct ab_buf *b)
{
	ab_autofree char *coded = NULL;

	if (c->data) {
		coded = ab_alloc(AB_BASE64_ROOM(c->len) + 1);
		ab_base64_encode(c->data, c->len, AB_BASE64_STANDARD, coded);
	}
	/* Invalid UTF-8 is replaced in a JSON string, so the bytes are there too. */
	ab_buf_jsonf(b, ",'content':%.*s,'content_base64':%s,'truncated':%hhd", (int)c->len,
		     c->text ? c->data : NULL, coded, c->cut);
}

static char *make_json(const struct view *v)
{
	struct ab_quarantined_list one = { .v = (struct ab_quarantined *)(uintptr_t)v->is,
					   .len = 1 };
	ab_autofree char *list = ab_quarantined_json(&one);
	const char *object = strchr(list, '[') + 1;
	struct ab_buf b = { 0 };

	/* The object of the list, with more members. */
	ab_buf_add(&b, object, strlen(object) - strlen("}],\"more\":0}\n"));
	ab_buf_jsonf(&b, ",'target':%s", v->is->kind == AB_NODE_LINK ? v->target : NULL);
	add_json_content(&v->then, &b);
	ab_buf_jsonf(&b, ",'entries':%p,'present':%hhd,'diff':%p}\n", ab_list(&v->tree.lines),
		     v->present, ab_list(&v->diff));
	return ab_buf_take(&b);
}

int ab_quarantined_show(const struct ab_policy_input *input, const char *id, bool json, char **ret,
			struct ab_error *err)
{
	ab_autofree struct view *v = ab_alloc(sizeof(*v));
	struct ab_quarantined_one one;

	if (ab_quarantined_open(input, id, &one, err) < 0)
		return -1;
	make_view(&one, v);
	*ret = json ? make_json(v) : make_text(v);
	ab_free_all(v->then.data, v->now.data);
	ab_strv_fini_all(&v->tree.lines, &v->diff);
	ab_quarantined_close(&one);
	return 0;
}
