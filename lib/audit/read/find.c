#include "audit/read/find.h"

#include <sys/file.h>

#include "audit/read/details.h"
#include "audit/read/reader.h"
#include "audit/read/sentences.h"
#include "audit/write/log.h"
#include "base/system/folder.h"
#include "base/text/units.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

enum { ID_LEN = 5 };

static const char id_letters[] = "abcdefghijkmnpqrstuvwxyz23456789";

bool ab_run_id_valid(const char *text)
{
	return strlen(text) == ID_LEN && strspn(text, id_letters) == ID_LEN;
}

bool ab_find_live(int dir)
{
	/* Release the lock at once: others would take us for the run. */
	if (flock(dir, LOCK_SH | LOCK_NB) == 0) {
		flock(dir, LOCK_UN);
		return false;
	}
	return errno == EWOULDBLOCK;
}

void ab_found_run_fini(struct ab_found_run *run)
{
	ab_closep(&run->dir);
	free(run->first);
	*run = (struct ab_found_run){ .dir = -1 };
}

/* False if there is no such run, or it has no record (yet). */
static bool open_run(int live, int runs, const char *id, struct ab_found_run *ret)
{
	struct ab_found_run run = { .dir = -1 };
	struct ab_detail stamp;

	/* In this order: a run that ends moves from live to runs. */
	run.dir = openat(live, id, OPEN_DIR);
	if (run.dir < 0)
		run.dir = openat(runs, id, OPEN_DIR);
	if (run.dir < 0 || ab_log_first(run.dir, &run.first) < 0 ||
	    !ab_details_one(run.first, strlen(run.first), "timestamp", &stamp)) {
		ab_found_run_fini(&run);
		return false;
	}
	snprintf(run.id, sizeof(run.id), "%s", id);
	ab_detail_copy(&stamp, run.began, sizeof(run.began));
	run.live = ab_find_live(run.dir);
	*ret = run;
	return true;
}

/* Does it have this name? Without one: nobody means a run that another one has started but by its id. */
static bool is_meant(const struct ab_found_run *run, const char *name)
{
	struct ab_detail field;

	(void)ab_details_one(run->first, strlen(run->first), name ? "name" : "tool_of", &field);
	return name ? ab_detail_is(&field, name) : field.kind == AB_DETAIL_NONE;
}

/* The names in a folder that can be run ids. */
static int list_ids(int folder, struct ab_strv *ret, struct ab_error *err)
{
	ab_autodir DIR *dir = ab_folder_list(folder, ".");
	const char *name;

	if (!dir)
		return ab_fail(err, AB_ESYSTEM, errno, "list the runs");
	while ((name = ab_folder_next(dir)) != NULL)
		if (ab_run_id_valid(name))
			ab_strv_add(ret, name);
	return 0;
}

int ab_find_all(int live, int runs, struct ab_strv *ret_ids, struct ab_error *err)
{
	ab_autostrv struct ab_strv ids = { 0 }, keys = { 0 };

	if (list_ids(live, &ids, err) < 0 || list_ids(runs, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids.len; i++) {
		struct ab_found_run run;

		if (!open_run(live, runs, ids.v[i], &run))
			continue;
		ab_strv_addf(&keys, "%s %s", run.began, run.id);
		ab_found_run_fini(&run);
	}
	ab_strv_sort(&keys);
	for (size_t i = 0; i < keys.len; i++) {
		const char *id = strrchr(keys.v[i], ' ') + 1;

		/* A run that moves meanwhile is listed twice. */
		if (i == 0 || strcmp(keys.v[i], keys.v[i - 1]) != 0)
			ab_strv_add(ret_ids, id);
	}
	return 0;
}

/* `name` NULL: any run. Returns 1 if there is none. */
static int find_newest(int live, int runs, const char *name, struct ab_found_run *ret,
		       struct ab_error *err)
{
	ab_autostrv struct ab_strv ids = { 0 };

	if (ab_find_all(live, runs, &ids, err) < 0)
		return -1;
	for (size_t i = ids.len; i-- > 0;) {
		if (!open_run(live, runs, ids.v[i], ret))
			continue;
		if (is_meant(ret, name))
			return 0;
		ab_found_run_fini(ret);
	}
	return 1;
}

/* Suggest what may have been meant. */
static int hint_other_run(int live, int runs, const char *run, struct ab_error *err)
{
	struct ab_denial_name name;
	struct ab_error none = { 0 };
	struct ab_found_run newest;

	if (ab_denial_parse(run, &name) == 0)
		return ab_hint(err, "%s is a denial; to see it: agentbox why %s", run, run);
	if (find_newest(live, runs, NULL, &newest, &none) != 0)
		return ab_hint(err, "no run has left a record yet");
	ab_hint(err, "latest: %s; list active runs with agentbox ps", newest.id);
	ab_found_run_fini(&newest);
	return -1;
}

int ab_find_run(int live, int runs, const char *run, struct ab_found_run *ret, struct ab_error *err)
{
	int found;

	if (run && ab_run_id_valid(run) && open_run(live, runs, run, ret))
		return 0;
	found = find_newest(live, runs, run, ret, err);
	if (found <= 0)
		return found;
	if (!run)
		return ab_fail(err, AB_ESYSTEM, 0, "no run has left a record yet");
	ab_fail(err, AB_ESYSTEM, 0, "no run named %.100s", run);
	return hint_other_run(live, runs, run, err);
}

int ab_denial_parse(const char *text, struct ab_denial_name *ret)
{
	static const char letters[AB_DENIAL_KINDS] = {
		[AB_DENIAL_PROGRAM] = 'e',   [AB_DENIAL_FILE] = 'f', [AB_DENIAL_MOVED] = 'q',
		[AB_DENIAL_CONTAINER] = 'c', [AB_DENIAL_TOOL] = 't',
	};
	struct ab_denial_name name = { .kind = AB_DENIAL_NETWORK };
	const char *p = text + ID_LEN, *letter;
	uint64_t number = 0;

	if (strspn(text, id_letters) < ID_LEN || *p++ != '-')
		return -1;
	letter = *p ? memchr(letters, *p, sizeof(letters)) : NULL;
	if (letter) {
		name.kind = (enum ab_denial_kind)(letter - letters);
		p++;
	}
	/* No leading zeros: one number has one spelling. */
	if (*p == '0' || !ab_parse_digits(p, strlen(p), &number) || number > UINT32_MAX)
		return -1;
	memcpy(name.run, text, ID_LEN);
	name.number = (uint32_t)number;
	*ret = name;
	return 0;
}

uint64_t ab_denial_times(const struct ab_detail *id, const struct ab_detail *door,
			 const struct ab_detail *repeated)
{
	uint64_t n = ab_detail_count(repeated);
	bool file = ab_detail_is(door, "file") || ab_detail_is(door, "call");

	return n + (id->kind == AB_DETAIL_TEXT && (!file || !n));
}

/* clang-format off */
#define WANTED(X) \
	X(TIMESTAMP, "timestamp") X(KIND, "kind") X(ID, "id") X(REPEATED, "repeated") \
	X(REASON, "reason") X(PROCESS, "process") X(PACKETS, "packets") X(DOOR, "door")
/* clang-format on */
AB_MEMBERS(WANTED)

/* A "request" with an id only records the reply to a denied request. */
static bool is_denial(const struct ab_detail m[])
{
	return m[M_ID].kind == AB_DETAIL_TEXT &&
	       (ab_detail_is(&m[M_KIND], "violation") || ab_detail_is(&m[M_KIND], "exec"));
}

/* Not every line of a denial has the process and the reason. */
static size_t weigh_record(const struct ab_detail m[])
{
	return (size_t)(m[M_REASON].kind == AB_DETAIL_TEXT) +
	       (size_t)(m[M_PROCESS].kind == AB_DETAIL_NESTED);
}

struct gathering {
	const char *id;
	struct ab_found_denial found;
	size_t weight; /* of found.denied */
	bool any;
};

/* When it was denied; if it was not, when anything happened. */
static void take_time(struct gathering *g, const struct ab_detail m[])
{
	struct ab_found_denial *f = &g->found;
	bool denial = is_denial(m);

	if (!denial && f->denied)
		return;
	if (!g->any || (denial && !f->denied))
		ab_detail_copy(&m[M_TIMESTAMP], f->first, sizeof(f->first));
	ab_detail_copy(&m[M_TIMESTAMP], f->last, sizeof(f->last));
}

static bool gather_record(void *arg, const char *line, size_t len)
{
	struct gathering *g = arg;
	struct ab_found_denial *f = &g->found;
	struct ab_detail m[M_COUNT];
	char **other;

	if (ab_details_find(line, len, members, M_COUNT, m) < 0 || !ab_detail_is(&m[M_ID], g->id))
		return true;
	other = ab_detail_is(&m[M_KIND], "request")    ? &f->request
		: ab_detail_is(&m[M_KIND], "question") ? &f->question
						       : NULL;
	if (!other && !is_denial(m))
		return true;
	take_time(g, m);
	g->any = true;
	if (other) {
		ab_details_keep(other, line, len);
		return true;
	}
	f->count += ab_denial_times(&m[M_ID], &m[M_DOOR], &m[M_REPEATED]);
	if (!f->denied || weigh_record(m) > g->weight) {
		ab_details_keep(&f->denied, line, len);
		g->weight = weigh_record(m);
	}
	return true;
}

/* The id of the last denial; "": there is none. Packets without a destination were counted when the
 * run ended, so they only count if there is nothing else. */
static bool note_last(void *arg, const char *line, size_t len)
{
	char *last = arg;
	struct ab_detail m[M_COUNT];
	bool packets;

	if (ab_details_find(line, len, members, M_COUNT, m) < 0 || !is_denial(m))
		return true;
	packets = m[M_PACKETS].kind == AB_DETAIL_NUMBER && m[M_DOOR].kind != AB_DETAIL_TEXT;
	if (!packets || !last[0])
		ab_detail_copy(&m[M_ID], last, 32);
	return true;
}

int ab_find_denial(int dir, const char *id, struct ab_found_denial *ret, struct ab_error *err)
{
	char last[32] = "";
	struct gathering g = { .id = id ? id : last };

	if (!id && ab_reader_each(dir, note_last, last, err) < 0)
		return -1;
	if (!*g.id)
		return 0;
	if (ab_reader_each(dir, gather_record, &g, err) < 0) {
		ab_found_denial_fini(&g.found);
		return -1;
	}
	snprintf(g.found.id, sizeof(g.found.id), "%s", g.id);
	if (g.any)
		*ret = g.found;
	return g.any;
}

void ab_found_denial_fini(struct ab_found_denial *denial)
{
	ab_free_all(denial->denied, denial->request, denial->question);
	*denial = (struct ab_found_denial){ 0 };
}

/* The numbers seen so far, for each kind. A run with more denials gives a new
 * number each time, so higher ones are always new. */
enum { NUMBERS = 1 << 16 };
struct listing {
	uint8_t seen[AB_DENIAL_KINDS][NUMBERS / 8];
	struct ab_strv *lines;
	size_t most, n;
};

static bool is_new(struct listing *l, const struct ab_denial_name *name)
{
	uint8_t *byte, bit = (uint8_t)(1 << name->number % 8);

	if (name->number >= NUMBERS)
		return true;
	byte = &l->seen[name->kind][name->number / 8];
	if (*byte & bit)
		return false;
	*byte |= bit;
	return true;
}

static bool list_denial(void *arg, const char *line, size_t len)
{
	struct listing *l = arg;
	struct ab_detail m[M_COUNT];
	struct ab_buf b = { 0 };
	struct ab_denial_name name;
	char id[32];

	if (ab_details_find(line, len, members, M_COUNT, m) < 0 || !is_denial(m))
		return true;
	ab_detail_copy(&m[M_ID], id, sizeof(id));
	if (ab_denial_parse(id, &name) < 0 || !is_new(l, &name) || l->n++ >= l->most)
		return true;
	ab_buf_printf(&b, "%-9s  ", id);
	ab_sentence(&b, AB_ABOUT | AB_SAID, line, len);
	ab_strv_give(l->lines, ab_buf_take(&b));
	return true;
}

int ab_find_denials(int dir, size_t most, struct ab_strv *ret, size_t *ret_n, struct ab_error *err)
{
	ab_autofree struct listing *l = ab_alloc(sizeof(*l));
	int result;

	l->lines = ret;
	l->most = most;
	result = ab_reader_each(dir, list_denial, l, err);
	*ret_n = l->n;
	return result;
}
