#include "broker/cleanup/moved_files.h"

#include "agents/obeyed.h"
#include "audit/read/details.h"
#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "shell/syntax/quote.h"
#include "state/state.h"
#include "workspace/quarantine/journal.h"
#include "workspace/quarantine/quarantine.h"

static const char *const kinds[] = {
	[AB_NODE_FILE] = "file",
	[AB_NODE_DIR] = "folder",
	[AB_NODE_LINK] = "link",
	[AB_NODE_OTHER] = "other",
};

/* A hook or a setting of a repository that the run made is not allowed by a name. */
static void add_hint(struct ab_buf *line, const struct ab_moved *m)
{
	ab_autobuf struct ab_buf word = { 0 };
	ab_autofree char *value = NULL, *safe = NULL, *hint = NULL;

	if (!m->entry || m->part || m->keys)
		return;
	value = ab_printf("!%s", m->entry);
	ab_quote(&word, value);
	safe = ab_escape(word.data);
	if (strcmp(safe, word.data) != 0)
		return;
	hint = ab_printf("agentbox run --deny-write %s -- ...", word.data);
	ab_record_text(line, "hint", hint);
}

static void add_reason(struct ab_buf *line, const struct ab_moved *m)
{
	ab_autofree char *reason = NULL;

	if (m->keys)
		reason = ab_printf(
			"git may run programs on account of what it says (%s); moved to quarantine",
			m->keys);
	else if (m->shared)
		reason = ab_strdup("a shared folder holds files and folders only; moved to "
				   "quarantine");
	else
		reason = ab_printf("a protected name, %s; moved to quarantine",
				   ab_obeyed_by(m->entry ? m->entry : ""));
	ab_record_text(line, "reason", reason);
}

/* The time is that of the move. */
static void make_line(struct ab_buf *line, const char *run_id, const struct ab_moved *m)
{
	ab_autofree char *id = ab_printf("%s-q%u", run_id, m->number);
	ab_autobuf struct ab_buf where = { 0 };
	char stamp[AB_STAMP_ROOM];

	ab_journal_put_path(&where, m->path);
	ab_stamp(&m->at, stamp);
	ab_buf_jsonf(line,
		     "{'timestamp':%s,'run_id':%s,'kind':'violation','id':%s,'door':'quarantine',"
		     "'path':%s,'allowed':false,'rule':%s",
		     stamp, run_id, id, m->path,
		     m->shared ? "filesystem.share" : "filesystem.denyWrite");
	add_reason(line, m);
	add_hint(line, m);
	/* Device and inode may use all 64 bits; these are signed. */
	ab_buf_jsonf(line,
		     ",'entry':%s,'file':%s,'where':%-s,'type':%s,'mode':%u,'size':%jd,'dev':%jd,"
		     "'ino':%jd,'keys':%s}\n",
		     ab_text_or_null(m->entry), m->name, where.data,
		     kinds[ab_node_of(m->st.st_mode)], m->mode, (intmax_t)m->st.st_size,
		     (intmax_t)m->st.st_dev, (intmax_t)m->st.st_ino, ab_text_or_null(m->keys));
}

void ab_moved_note(const struct ab_run *run, const struct ab_quarantine_report *report,
		   size_t *told)
{
	ab_autoclose int fd = -1;

	for (size_t i = 0; i < report->nmoved; i++) {
		const struct ab_moved *m = &report->moved[i];
		ab_autobuf struct ab_buf line = { 0 };

		if (!m->name || (i < *told && !m->late))
			continue;
		if (fd < 0)
			fd = openat(run->dir, AB_MOVED_LIST,
				    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
		make_line(&line, run->id, m);
		(void)ab_write_all(fd, line.data, line.len);
	}
	*told = report->nmoved;
}

static int write_rest(struct ab_log *log, const char *run_id, size_t n, struct ab_error *err)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, run_id, "violation");
	ab_buf_jsonf(&line,
		     ",'id':null,'door':'quarantine','allowed':false,'rule':'filesystem.denyWrite',"
		     "'repeated':%zu",
		     n);
	return ab_log_write(log, &line, err);
}

int ab_moved_read(int dir, char **ret, size_t *ret_len)
{
	ab_autoclose int fd = openat(dir, AB_MOVED_LIST, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ab_autofree char *text = NULL;
	struct stat st;
	size_t most;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	most = st.st_size < AB_MOVED_LIST_MAX ? (size_t)st.st_size : AB_MOVED_LIST_MAX;
	text = ab_alloc(most + 1);
	n = ab_read_full(fd, text, most);
	if (n < 0)
		return -1;
	*ret_len = (size_t)n;
	*ret = ab_take(text);
	return 0;
}

int ab_moved_record(const struct ab_run *run, struct ab_log *log, struct ab_error *err)
{
	ab_autofree char *list = NULL;
	const char *p, *end;
	size_t len, n = 0;

	/* Most runs have none. */
	if (ab_moved_read(run->dir, &list, &len) < 0 && errno == ENOENT)
		return 0;
	if (!list)
		return ab_fail(err, AB_ESYSTEM, errno, "read " AB_MOVED_LIST " of run %s", run->id);
	for (p = list; (end = memchr(p, '\n', len - (size_t)(p - list))); p = end + 1) {
		ab_autobuf struct ab_buf line = { 0 };

		if (end == p || end[-1] != '}' || n++ >= AB_MOVED_RECORDED)
			continue;
		/* Without the bracket, which the log adds. */
		ab_buf_add(&line, p, (size_t)(end - p) - 1);
		if (ab_log_write(log, &line, err) < 0)
			return -1;
	}
	return n > AB_MOVED_RECORDED ? write_rest(log, run->id, n - AB_MOVED_RECORDED, err) : 0;
}

/* clang-format off */
#define WANTED(X) \
	X(TIMESTAMP, "timestamp") X(ID, "id") X(DOOR, "door") X(ENTRY, "entry") X(FILE, "file") \
	X(WHERE, "where") X(TYPE, "type") X(MODE, "mode") X(SIZE, "size") X(DEV, "dev") \
	X(INO, "ino") X(KEYS, "keys")
/* clang-format on */
AB_MEMBERS(WANTED)

static enum ab_node find_kind(const struct ab_detail *type)
{
	for (size_t i = 0; i < AB_COUNT(kinds); i++)
		if (ab_detail_is(type, kinds[i]))
			return (enum ab_node)i;
	return AB_NODE_OTHER;
}

int ab_moved_parse(const char *line, size_t len, struct ab_moved_file *ret)
{
	struct ab_moved_file f = { 0 };
	struct ab_detail m[M_COUNT];
	ab_autofree char *where = NULL;

	if (ab_details_find(line, len, members, M_COUNT, m) < 0 ||
	    !ab_detail_is(&m[M_DOOR], "quarantine"))
		return -1;
	where = ab_detail_dup(&m[M_WHERE]);
	f.id = ab_detail_dup(&m[M_ID]);
	f.file = ab_detail_dup(&m[M_FILE]);
	f.where = ab_journal_get_path(where);
	f.entry = ab_detail_dup(&m[M_ENTRY]);
	f.keys = ab_detail_dup(&m[M_KEYS]);
	f.kind = find_kind(&m[M_TYPE]);
	f.mode = (mode_t)ab_detail_number(&m[M_MODE], 0) & 07777;
	f.size = (uint64_t)ab_detail_number(&m[M_SIZE], 0);
	f.dev = (dev_t)ab_detail_number(&m[M_DEV], 0);
	f.ino = (ino_t)ab_detail_number(&m[M_INO], 0);
	ab_detail_copy(&m[M_TIMESTAMP], f.stamp, sizeof(f.stamp));
	if (!f.id || !f.file || !ab_quarantine_number(f.file) || strchr(f.file, '/') || !f.where ||
	    f.where[0] != '/') {
		ab_moved_file_fini(&f);
		return -1;
	}
	*ret = f;
	return 0;
}

void ab_moved_file_fini(struct ab_moved_file *f)
{
	ab_free_all(f->id, f->file, f->where, f->entry, f->keys);
	*f = (struct ab_moved_file){ 0 };
}
