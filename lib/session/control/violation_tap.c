#include "session/control/violation_tap.h"

int ab_violations_new(struct ab_violations **ret, struct ab_error *err)
{
	struct ab_violations *v = ab_alloc(sizeof(*v));

	if (ab_mailbox_init(&v->mail, err) < 0) {
		free(v);
		return -1;
	}
	*ret = v;
	return 0;
}

void ab_violations_free(struct ab_violations *v)
{
	char *line;

	if (!v)
		return;
	while ((line = ab_violations_take(v)) != NULL)
		free(line);
	ab_mailbox_fini(&v->mail);
	ab_strv_fini(&v->kept);
	free(v);
}

/* Our records begin with timestamp, run and kind, in this order, and the box controls none of
 * them. */
static bool is_denial(const char *line, size_t len)
{
	static const char key[] = "\"kind\":\"";
	static const char *const kinds[] = { "violation\"", "exec\"", "refused\"" };
	const char *kind = memmem(line, len < 128 ? len : 128, key, sizeof(key) - 1);

	for (size_t i = 0; kind && i < AB_COUNT(kinds); i++)
		if (strncmp(kind + sizeof(key) - 1, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

void ab_violations_tap(void *arg, const char *line, size_t len)
{
	struct ab_violations *v = arg;

	if (is_denial(line, len))
		ab_mailbox_post(&v->mail, 0, 0, -1, ab_strndup(line, len));
}

char *ab_violations_take(struct ab_violations *v)
{
	struct ab_letter *letter = ab_mailbox_take(&v->mail);
	char *line;

	if (!letter)
		return NULL;
	line = letter->data;
	free(letter);
	v->count++;
	if (v->kept.len < AB_VIOLATIONS_KEPT)
		ab_strv_add(&v->kept, line);
	return line;
}
