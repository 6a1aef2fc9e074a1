#include "audit/show/page.h"

#include "audit/read/query.h"
#include "audit/show/page_state.h"

enum { PART_MS = 250 };

/* clang-format off */
#define WANTED(X) \
	X(TIMESTAMP, "timestamp") X(KIND, "kind") X(ID, "id") X(ALLOWED, "allowed") \
	X(REPEATED, "repeated") X(PROCESS, "process") X(DOOR, "door") X(PACKETS, "packets")
/* clang-format on */
AB_MEMBERS(WANTED)

struct ab_page *ab_page_new(void)
{
	struct ab_page *page = ab_alloc(sizeof(*page));

	page->stats = ab_stats_new();
	page->time = (struct ab_page_time){ .begin = -1, .part = PART_MS };
	return page;
}

void ab_page_free(struct ab_page *page)
{
	if (!page)
		return;
	ab_free_all(page->start, page->assurance, page->end);
	ab_stats_free(page->stats);
	for (size_t i = 0; i < page->ndenials; i++)
		free(page->denials[i].line);
	ab_strv_fini_all(&page->questions, &page->events);
	for (size_t i = 0; i < AB_PAGE_REQUESTS; i++)
		free(page->requests[i]);
	free(page);
}

static void merge_bars(struct ab_page_time *t)
{
	for (size_t i = 0; i < AB_PAGE_BARS; i++) {
		bool half = i < AB_PAGE_BARS / 2;

		t->passed[i] = half ? t->passed[2 * i] + t->passed[2 * i + 1] : 0;
		t->denied[i] = half ? t->denied[2 * i] + t->denied[2 * i + 1] : 0;
	}
	t->part *= 2;
}

static void add_time(struct ab_page_time *t, const char *stamp, uint64_t passed, uint64_t denied)
{
	int64_t at = ab_time_ms(stamp);
	size_t i;

	if (at < 0)
		return;
	if (t->begin < 0)
		t->begin = t->last = at;
	/* The clock was set back. */
	at = at < t->begin ? t->begin : at;
	t->last = at > t->last ? at : t->last;
	while ((at - t->begin) / t->part >= AB_PAGE_BARS)
		merge_bars(t);
	i = (size_t)((at - t->begin) / t->part);
	t->passed[i] += passed;
	t->denied[i] += denied;
}

/* NULL if there is no room for it. */
static struct ab_page_denial *find_denial(struct ab_page *page, const struct ab_detail *id)
{
	struct ab_denial_name name;
	char text[32];
	uint16_t *row;

	ab_detail_copy(id, text, sizeof(text));
	if (ab_denial_parse(text, &name) < 0 || name.number >= AB_PAGE_NUMBERS)
		return NULL;
	row = &page->rows[name.kind][name.number];
	if (!*row) {
		if (page->ndenials == AB_PAGE_ROWS)
			return NULL;
		*row = (uint16_t)++page->ndenials;
	}
	return &page->denials[*row - 1];
}

static void add_denial(struct ab_page *page, const char *line, size_t len,
		       const struct ab_detail m[], const char *stamp, uint64_t count)
{
	struct ab_page_denial *d = find_denial(page, &m[M_ID]);
	bool process = m[M_PROCESS].kind == AB_DETAIL_NESTED;

	if (!d) {
		page->unlisted += count;
		return;
	}
	if (!d->line)
		memcpy(d->first, stamp, sizeof(d->first));
	memcpy(d->last, stamp, sizeof(d->last));
	d->count += count;
	if (!d->line || (process && !d->process)) {
		ab_details_keep(&d->line, line, len);
		d->process = process;
	}
}

static void add_request(struct ab_page *page, const char *line, size_t len)
{
	ab_details_keep(&page->requests[page->nrequests++ % AB_PAGE_REQUESTS], line, len);
}

static void add_row(struct ab_strv *rows, uint64_t *more, const char *line, size_t len)
{
	if (rows->len < AB_PAGE_ROWS)
		ab_strv_give(rows, ab_strndup(line, len));
	else
		++*more;
}

static void add_record(struct ab_page *page, const char *line, size_t len,
		       const struct ab_detail m[], const char *stamp)
{
	const struct ab_detail *kind = &m[M_KIND];
	uint64_t count = ab_denial_times(&m[M_ID], &m[M_DOOR], &m[M_REPEATED]);

	if (ab_detail_is(kind, "request")) {
		/* The violation stands for a denied request. */
		if (m[M_ALLOWED].kind != AB_DETAIL_TRUE)
			return;
		add_request(page, line, len);
		add_time(&page->time, stamp, 1, 0);
	} else if (ab_detail_is(kind, "violation") || ab_detail_is(kind, "exec")) {
		add_denial(page, line, len, m, stamp, count);
		add_request(page, line, len);
		add_time(&page->time, stamp, 0, count);
	} else if (ab_detail_is(kind, "start") || ab_detail_is(kind, "refused")) {
		ab_details_keep(&page->start, line, len);
		add_time(&page->time, stamp, 0, 0);
	} else if (ab_detail_is(kind, "assurance")) {
		ab_details_keep(&page->assurance, line, len);
	} else if (ab_detail_is(kind, "end")) {
		ab_details_keep(&page->end, line, len);
		add_time(&page->time, stamp, 0, 0);
	} else if (ab_detail_is(kind, "question")) {
		add_row(&page->questions, &page->more_questions, line, len);
	} else {
		add_row(&page->events, &page->more_events, line, len);
	}
}

void ab_page_add(struct ab_page *page, const char *line, size_t len)
{
	struct ab_detail m[M_COUNT];
	char stamp[AB_STAMP_ROOM] = "";

	if (ab_details_find(line, len, members, M_COUNT, m) < 0)
		return;
	ab_detail_copy(&m[M_TIMESTAMP], stamp, sizeof(stamp));
	if (!page->first[0])
		memcpy(page->first, stamp, sizeof(stamp));
	memcpy(page->last, stamp, sizeof(stamp));
	ab_stats_add(page->stats, line, len);
	add_record(page, line, len, m, stamp);
}
