#include "audit/read/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/read/details.h"
#include "audit/read/reader.h"
#include "audit/read/sentences.h"
#include "base/data/error.h"
#include "base/data/mem.h"

enum {
	M_TIMESTAMP,
	M_KIND,
	M_ID,
	M_REPEATED,
	M_REASON,
	M_PROCESS,
	M_PACKETS,
	M_DOOR,
	M_COUNT,
};

static const char *const members[M_COUNT] = {
	[M_TIMESTAMP] = "timestamp", [M_KIND] = "kind",	    [M_ID] = "id",
	[M_REPEATED] = "repeated",   [M_REASON] = "reason", [M_PROCESS] = "process",
	[M_PACKETS] = "packets",     [M_DOOR] = "door",
};

/* With the words of a denial; a "request" only says how one was answered. */
static bool is_denial(const struct ab_detail m[])
{
	return m[M_ID].kind == AB_DETAIL_TEXT &&
	       (ab_detail_is(&m[M_KIND], "violation") || ab_detail_is(&m[M_KIND], "exec"));
}

/* The next line that is a record; as ab_reader_next(). */
static int next_record(struct ab_reader *r, const char **line, size_t *len, struct ab_detail m[],
		       struct ab_error *err)
{
	int more;

	do {
		more = ab_reader_next(r, line, len, err);
	} while (more > 0 && ab_details_find(*line, *len, members, M_COUNT, m) < 0);
	return more;
}

static void keep(char **place, const char *line, size_t len)
{
	free(*place);
	*place = ab_strndup(line, len);
}

/* Who asked, and why it was refused, are not in every line of it. */
static size_t weight(const struct ab_detail m[])
{
	return (size_t)(m[M_REASON].kind == AB_DETAIL_TEXT) +
	       (size_t)(m[M_PROCESS].kind == AB_DETAIL_NESTED);
}

struct gathering {
	struct ab_found_denial found;
	size_t weight; /* of found.denied */
	bool any;
};

/* When it was refused; where it was not, when there was anything. */
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

static void gather(struct gathering *g, const char *line, size_t len, const struct ab_detail m[])
{
	struct ab_found_denial *f = &g->found;

	if (ab_detail_is(&m[M_KIND], "request")) {
		take_time(g, m);
		keep(&f->request, line, len);
	} else if (ab_detail_is(&m[M_KIND], "question")) {
		take_time(g, m);
		keep(&f->question, line, len);
	} else if (is_denial(m)) {
		take_time(g, m);
		f->count += ab_denial_times(&m[M_ID], &m[M_DOOR], &m[M_REPEATED]);
		if (!f->denied || weight(m) > g->weight) {
			keep(&f->denied, line, len);
			g->weight = weight(m);
		}
	} else {
		return;
	}
	g->any = true;
}

/* The id of the last denial; 1, 0, -1. Packets are counted when a run ends, so
 * they are only meant where there is nothing else. */
static int find_last(int dir, char ret[32], struct ab_error *err)
{
	struct ab_detail m[M_COUNT];
	struct ab_reader r;
	const char *line;
	size_t len;
	int more, found = 0;

	if (ab_reader_open(dir, &r, err) < 0)
		return -1;
	while ((more = next_record(&r, &line, &len, m, err)) > 0) {
		bool packets = m[M_PACKETS].kind == AB_DETAIL_NUMBER;

		if (!is_denial(m) || (packets && found))
			continue;
		ab_detail_copy(&m[M_ID], ret, 32);
		found = 1;
	}
	ab_reader_fini(&r);
	return more < 0 ? -1 : found;
}

static int gather_all(int dir, const char *id, struct gathering *g, struct ab_error *err)
{
	struct ab_detail m[M_COUNT];
	struct ab_reader r;
	const char *line;
	size_t len;
	int more;

	if (ab_reader_open(dir, &r, err) < 0)
		return -1;
	while ((more = next_record(&r, &line, &len, m, err)) > 0)
		if (ab_detail_is(&m[M_ID], id))
			gather(g, line, len, m);
	ab_reader_fini(&r);
	return more;
}

int ab_find_denial(int dir, const char *id, struct ab_found_denial *ret, struct ab_error *err)
{
	struct gathering g = { 0 };
	char last[32];

	if (!id) {
		int found = find_last(dir, last, err);

		if (found <= 0)
			return found;
		id = last;
	}
	if (gather_all(dir, id, &g, err) < 0) {
		ab_found_denial_fini(&g.found);
		return -1;
	}
	snprintf(g.found.id, sizeof(g.found.id), "%s", id);
	if (g.any)
		*ret = g.found;
	return g.any;
}

void ab_found_denial_fini(struct ab_found_denial *denial)
{
	free(denial->denied);
	free(denial->request);
	free(denial->question);
	*denial = (struct ab_found_denial){ 0 };
}

/* Which numbers there were already, for each kind; higher ones are new each
 * time, which they are in a run that has so many. */
enum { NUMBERS = 1 << 16 };
struct seen {
	uint8_t bits[AB_DENIAL_FILE + 1][NUMBERS / 8];
};

static bool is_new(struct seen *seen, const struct ab_denial_name *name)
{
	uint8_t *byte, bit = (uint8_t)(1 << name->number % 8);

	if (name->number >= NUMBERS)
		return true;
	byte = &seen->bits[name->kind][name->number / 8];
	if (*byte & bit)
		return false;
	*byte |= bit;
	return true;
}

int ab_find_denials(int dir, size_t most, struct ab_strv *ret, size_t *ret_n, struct ab_error *err)
{
	ab_autofree struct seen *seen = ab_alloc(sizeof(*seen));
	struct ab_detail m[M_COUNT];
	struct ab_reader r;
	const char *line;
	size_t len, n = 0;
	int more;

	if (ab_reader_open(dir, &r, err) < 0)
		return -1;
	while ((more = next_record(&r, &line, &len, m, err)) > 0) {
		struct ab_buf b = { 0 };
		struct ab_denial_name name;
		char id[32];

		if (!is_denial(m))
			continue;
		ab_detail_copy(&m[M_ID], id, sizeof(id));
		if (ab_denial_parse(id, &name) < 0 || !is_new(seen, &name) || n++ >= most)
			continue;
		ab_buf_printf(&b, "%-9s  ", id);
		ab_sentence(&b, AB_ABOUT | AB_SAID, line, len);
		ab_strv_give(ret, ab_buf_take(&b));
	}
	ab_reader_fini(&r);
	*ret_n = n;
	return more;
}
