#include "session/control/open_questions.h"

struct ab_open_question *ab_open_questions_add(struct ab_open_questions *qs,
					       const struct ab_host_question *wanted,
					       uint64_t now_ms)
{
	struct ab_open_question *q;

	if (qs->len == AB_OPEN_QUESTIONS_MAX)
		return NULL;
	ab_make_room(qs->v, qs->len);
	q = ab_alloc(sizeof(*q));
	q->wanted = *wanted;
	q->asked_ms = now_ms;
	qs->v[qs->len++] = q;
	return q;
}

static size_t find_index(const struct ab_open_questions *qs, uint32_t number)
{
	size_t i = 0;

	while (i < qs->len && qs->v[i]->wanted.number != number)
		i++;
	return i;
}

struct ab_open_question *ab_open_questions_find(const struct ab_open_questions *qs, uint32_t number)
{
	size_t i = find_index(qs, number);

	return i < qs->len ? qs->v[i] : NULL;
}

struct ab_open_question *ab_open_questions_from(const struct ab_open_questions *qs, uint32_t number)
{
	struct ab_open_question *found = NULL;

	for (size_t i = 0; i < qs->len; i++) {
		struct ab_open_question *q = qs->v[i];

		if (q->wanted.number >= number &&
		    (!found || q->wanted.number < found->wanted.number))
			found = q;
	}
	return found;
}

struct ab_open_question *ab_open_questions_unseen(const struct ab_open_questions *qs, bool seen,
						  uint64_t last_ms, uint64_t now_ms,
						  uint64_t *ret_ms)
{
	for (size_t i = 0; i < qs->len; i++) {
		uint64_t due = qs->v[i]->asked_ms + (seen ? AB_NOTICE_AFTER_MS : 0);

		if (qs->v[i]->noticed)
			continue;
		if (last_ms && due < last_ms + AB_NOTICE_GAP_MS)
			due = last_ms + AB_NOTICE_GAP_MS;
		*ret_ms = due > now_ms ? due - now_ms : 0;
		return qs->v[i];
	}
	return NULL;
}

void ab_open_questions_noticed(struct ab_open_questions *qs)
{
	for (size_t i = 0; i < qs->len; i++)
		qs->v[i]->noticed = true;
}

static void free_question(struct ab_open_question *q)
{
	ab_free_all(q->who, q);
}

void ab_open_questions_remove(struct ab_open_questions *qs, uint32_t number)
{
	size_t i = find_index(qs, number);

	if (i == qs->len)
		return;
	free_question(qs->v[i]);
	qs->len--;
	memmove(&qs->v[i], &qs->v[i + 1], (qs->len - i) * sizeof(qs->v[0]));
}

void ab_open_questions_fini(struct ab_open_questions *qs)
{
	for (size_t i = 0; i < qs->len; i++)
		free_question(qs->v[i]);
	free(qs->v);
	*qs = (struct ab_open_questions){ 0 };
}

uint64_t ab_question_left(const struct ab_open_question *q, uint64_t now_ms)
{
	uint64_t end = q->asked_ms + q->wanted.ms;

	return now_ms < end ? end - now_ms : 0;
}

void ab_question_entry(const struct ab_open_question *q, char ret[AB_HOST_ENTRY_TEXT])
{
	struct ab_host host;
	struct ab_host_entry entry;

	ret[0] = '\0';
	if (ab_host_parse(q->wanted.host, strlen(q->wanted.host), &host, NULL) < 0)
		return;
	entry = ab_host_entry_for(&host, q->wanted.port);
	ab_host_entry_format(&entry, ret);
}
