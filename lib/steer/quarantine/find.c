#include "agents/obeyed.h"
#include "audit/read/find.h"
#include "audit/read/query.h"
#include "audit/read/words.h"
#include "base/system/folder.h"
#include "broker/cleanup/leftovers.h"
#include "broker/cleanup/moved_files.h"
#include "steer/client/steer.h"
#include "steer/quarantine/quarantined_state.h"
#include "workspace/quarantine/quarantine.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

enum { LISTED = 1000 };

static void free_one(struct ab_quarantined *q)
{
	ab_free_all(q->file, q->path, q->entry, q->why);
}

void ab_quarantined_list_fini(struct ab_quarantined_list *list)
{
	for (size_t i = 0; i < list->len; i++)
		free_one(&list->v[i]);
	free(list->v);
	*list = (struct ab_quarantined_list){ 0 };
}

/* A run's own list of what was moved. */
struct notes {
	struct ab_moved_file *v;
	size_t len;
	int errnum; /* why they cannot be read, or 0 */
};

static void read_notes(int dir, struct notes *ret)
{
	ab_autofree char *text = NULL;
	const char *p, *end;
	size_t len;

	if (ab_moved_read(dir, &text, &len) < 0) {
		ret->errnum = errno == ENOENT ? 0 : errno;
		return;
	}
	for (p = text; (end = memchr(p, '\n', len - (size_t)(p - text))); p = end + 1) {
		ab_make_room(ret->v, ret->len);
		ret->len += ab_moved_parse(p, (size_t)(end - p), &ret->v[ret->len]) == 0;
	}
}

/* The note about exactly this object: a file of the same number that another program put there
 * does not count. */
static const struct ab_moved_file *find_note(const struct notes *notes, unsigned number,
					     const struct stat *st)
{
	for (size_t i = 0; i < notes->len; i++) {
		const struct ab_moved_file *f = &notes->v[i];

		if (f->ino == st->st_ino && f->dev == st->st_dev &&
		    f->kind == ab_node_of(st->st_mode) && ab_quarantine_number(f->file) == number)
			return f;
	}
	return NULL;
}

static char *explain_why(const struct ab_moved_file *note, int errnum)
{
	if (errnum)
		return ab_printf("the list of the quarantine cannot be read (%s)",
				 strerror(errnum));
	if (!note)
		return ab_strdup("it has no entry in the list of the quarantine");
	if (note->keys)
		return ab_printf("git may run programs on account of what it says (%s)",
				 note->keys);
	if (!note->entry && (note->kind == AB_NODE_LINK || note->kind == AB_NODE_OTHER))
		return ab_strdup("a shared folder holds files and folders only");
	return ab_strdup(ab_obeyed_by(note->entry ? note->entry : ""));
}

static bool describe_file(int dir, const char *run, bool live, const char *name,
			  const struct notes *notes, struct ab_quarantined *ret)
{
	unsigned number = ab_quarantine_number(name);
	const struct ab_moved_file *note;
	struct stat st;

	if (!number || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	note = find_note(notes, number, &st);
	*ret = (struct ab_quarantined){ .live = live,
					.file = ab_strdup(name),
					.path = note ? ab_strdup(note->where) : NULL,
					.entry = note ? ab_strdup(note->entry) : NULL,
					.why = explain_why(note, notes->errnum),
					.kind = ab_node_of(st.st_mode),
					.mode = (note ? note->mode : st.st_mode) & 07777,
					.size = (uint64_t)st.st_size,
					.dev = st.st_dev,
					.ino = st.st_ino };
	snprintf(ret->id, sizeof(ret->id), "%s-q%u", run, number);
	snprintf(ret->run, sizeof(ret->run), "%s", run);
	snprintf(ret->stamp, sizeof(ret->stamp), "%s", note ? note->stamp : "");
	return true;
}

/* `number` 0: all files of the run. */
static void list_run(int dir, const char *run, unsigned number, struct ab_quarantined_list *list)
{
	ab_autodir DIR *names = ab_folder_list(dir, ".");
	struct notes notes = { 0 };
	struct ab_quarantined q;
	const char *name;
	bool read = false, live = false;

	while ((name = ab_folder_next(names)) != NULL) {
		unsigned n = ab_quarantine_number(name);

		if (!n || (number && n != number))
			continue;
		/* Most runs have nothing here. */
		if (!read) {
			read_notes(dir, &notes);
			live = ab_find_live(dir);
			read = true;
		}
		if (list->len == LISTED)
			list->more++;
		else if (describe_file(dir, run, live, name, &notes, &q))
			*ab_append(list->v, list->len) = q;
	}
	for (size_t i = 0; i < notes.len; i++)
		ab_moved_file_fini(&notes.v[i]);
	free(notes.v);
}

static int newest_first(const void *a, const void *b)
{
	const struct ab_quarantined *x = a, *y = b;
	int order = strcmp(y->stamp, x->stamp);

	return order ? order : strcmp(x->id, y->id);
}

static void list_folder(int folder, struct ab_quarantined_list *list)
{
	ab_autodir DIR *ids = ab_folder_list(folder, ".");
	const char *id;

	while ((id = ab_folder_next(ids)) != NULL) {
		ab_autoclose int dir = ab_run_id_valid(id) ? openat(folder, id, OPEN_DIR) : -1;

		if (dir >= 0)
			list_run(dir, id, 0, list);
	}
}

static int refuse_missing(const char *id, struct ab_error *err)
{
	ab_fail(err, AB_ESYSTEM, 0, "%s is not in quarantine", id);
	return ab_hint(err, "list what is: agentbox quarantine list");
}

static int list_one(const struct ab_state *state, const char *what,
		    struct ab_quarantined_list *list, struct ab_error *err)
{
	struct ab_denial_name name = { .number = 0 };
	bool file = ab_denial_parse(what, &name) == 0 && name.kind == AB_DENIAL_MOVED;
	ab_auto(ab_found_run_fini) struct ab_found_run run = { .dir = -1 };

	if (ab_find_run(state->live, state->runs, file ? name.run : what, &run, err) < 0)
		return -1;
	list_run(run.dir, run.id, file ? name.number : 0, list);
	return file && !list->len ? refuse_missing(what, err) : 0;
}

int ab_quarantined_find(const struct ab_policy_input *input, const char *what,
			struct ab_quarantined_list *ret, struct ab_strv *notes,
			struct ab_error *err)
{
	ab_auto(ab_quarantined_list_fini) struct ab_quarantined_list list = { 0 };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;

	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	ab_leftovers_stale(&state, notes);
	if (what && list_one(&state, what, &list, err) < 0)
		return -1;
	if (!what) {
		list_folder(state.live, &list);
		list_folder(state.runs, &list);
	}
	if (list.len)
		qsort(list.v, list.len, sizeof(list.v[0]), newest_first);
	*ret = list;
	list = (struct ab_quarantined_list){ 0 };
	return 0;
}

int ab_quarantined_open(const struct ab_policy_input *input, const char *id,
			struct ab_quarantined_one *ret, struct ab_error *err)
{
	ab_auto(ab_quarantined_list_fini) struct ab_quarantined_list list = { 0 };
	ab_auto(ab_found_run_fini) struct ab_found_run run = { .dir = -1 };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	struct ab_denial_name name;

	if (ab_denial_parse(id, &name) < 0 || name.kind != AB_DENIAL_MOVED) {
		ab_fail(err, AB_EUSAGE, 0,
			"%.100s is not the id of a file in quarantine; an id looks like "
			"7kq2x-q1",
			id);
		return ab_hint(err, "list them: agentbox quarantine list");
	}
	if (ab_steer_state(input, &state, err) < 0 ||
	    ab_find_run(state.live, state.runs, name.run, &run, err) < 0)
		return -1;
	list_run(run.dir, run.id, name.number, &list);
	if (list.len != 1)
		return refuse_missing(id, err);
	*ret = (struct ab_quarantined_one){ .state = state,
					    .dir = ab_take_fd(&run.dir),
					    .is = list.v[0] };
	list.len = 0;
	state = (struct ab_state)AB_STATE_NONE;
	return 0;
}

void ab_quarantined_close(struct ab_quarantined_one *one)
{
	free_one(&one->is);
	ab_closep(&one->dir);
	ab_state_fini(&one->state);
}

char *ab_quarantined_describe(const struct ab_quarantined *is)
{
	char size[AB_AMOUNT_ROOM];

	switch (is->kind) {
	case AB_NODE_FILE:
		return ab_printf("a file of %s%s", ab_words_size(is->size, size),
				 is->mode & 0111 ? " that can be executed" : "");
	case AB_NODE_DIR:
		return ab_strdup("a folder");
	case AB_NODE_LINK:
		return ab_strdup("a symbolic link");
	case AB_NODE_OTHER:
		break;
	}
	return ab_strdup("neither a file nor a folder");
}

char *ab_quarantined_text(const struct ab_quarantined_list *list)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < list->len; i++) {
		const struct ab_quarantined *q = &list->v[i];
		ab_autofree char *what = ab_quarantined_describe(q);
		char local[AB_LOCAL_ROOM];

		ab_words_safe(&b, "%-9s  %s  %s%s\n", q->id, ab_time_local(q->stamp, local),
			      q->path ? q->path : q->file, q->live ? " (the run is active)" : "");
		ab_words_safe(&b, "%-9s  %s; %s\n", "", what, q->why);
	}
	if (list->more)
		ab_buf_printf(&b, "and %zu more\n", list->more);
	if (!list->len)
		ab_buf_puts(&b, "nothing is in quarantine\n");
	return ab_buf_take(&b);
}

char *ab_quarantined_json(const struct ab_quarantined_list *list)
{
	static const char *const kinds[] = {
		[AB_NODE_FILE] = "file",
		[AB_NODE_DIR] = "folder",
		[AB_NODE_LINK] = "link",
		[AB_NODE_OTHER] = "other",
	};
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'files':[");
	for (size_t i = 0; i < list->len; i++) {
		const struct ab_quarantined *q = &list->v[i];
		char mode[16];

		snprintf(mode, sizeof(mode), "%04o", q->mode & 07777);
		ab_buf_jsonf(&b,
			     ",{'id':%s,'run_id':%s,'live':%hhd,'path':%s,'timestamp':%s,'type':%s,"
			     "'size':%ju,'mode':%s,'name':%s,'why':%s}",
			     q->id, q->run, q->live, ab_text_or_null(q->path),
			     ab_text_or_null(q->stamp), kinds[q->kind], (uintmax_t)q->size, mode,
			     ab_text_or_null(q->entry), ab_text_or_null(q->why));
	}
	ab_buf_jsonf(&b, "],'more':%zu}\n", list->more);
	return ab_buf_take(&b);
}

int ab_quarantined_scan(const struct ab_policy_input *input, const char *name,
			struct ab_scanned *ret, struct ab_error *err)
{
	ab_auto(ab_found_run_fini) struct ab_found_run found = { .dir = -1 };
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;
	struct ab_scanned s = { 0 };
	struct ab_run run;

	if (ab_steer_state(input, &state, err) < 0 ||
	    ab_find_run(state.live, state.runs, name, &found, err) < 0)
		return -1;
	if (found.live) {
		ab_fail(err, AB_EREFUSED, 0, "the run %s is active", found.id);
		return ab_hint(err, "its workspace is searched when it ends: agentbox stop %s",
			       found.id);
	}
	run = (struct ab_run){ .state = &state, .dir = found.dir };
	memcpy(run.id, found.id, sizeof(run.id));
	memcpy(s.run, found.id, sizeof(s.run));
	if (ab_leftovers_scan(&run, &s.findings, &s.complete, err) < 0) {
		ab_scanned_fini(&s);
		return -1;
	}
	*ret = s;
	return 0;
}

void ab_scanned_fini(struct ab_scanned *scanned)
{
	ab_strv_fini(&scanned->findings);
}
