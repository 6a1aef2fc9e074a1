/* Print a diagnosis and an attack, as text and as JSON. */
#include "attack/attack_result.h"
#include "doctor/doctor.h"

static const char *const healths[] = {
	[AB_HEALTH_OK] = "ok",
	[AB_HEALTH_WARN] = "warn",
	[AB_HEALTH_FAIL] = "fail",
	[AB_HEALTH_SKIP] = "skip",
};

static const struct {
	const char *shown, *word;
} holds[] = {
	[AB_HOLD_HELD] = { "stopped", "held" },
	[AB_HOLD_BROKEN] = { "BROKEN", "broken" },
	[AB_HOLD_UNTRIED] = { "not tried", "untried" },
	[AB_HOLD_UNCLAIMED] = { "open", "unclaimed" },
};

/* Print each line of the remedy below the row. */
static void add_remedy(struct ab_buf *b, const char *remedy)
{
	while (*remedy) {
		size_t n = strcspn(remedy, "\n");
		ab_autofree char *line = ab_strndup(remedy, n);
		ab_autofree char *shown = ab_escape(line);

		ab_buf_printf(b, "%26s%s\n", "", shown);
		remedy += n + (remedy[n] == '\n');
	}
}

char *ab_diagnosis_text(const struct ab_diagnosis *d)
{
	struct ab_buf b = { 0 };

	for (size_t i = 0; i < d->len; i++) {
		const struct ab_finding *f = &d->v[i];
		ab_autofree char *seen = ab_escape(f->seen);

		ab_buf_printf(&b, "%-5s %-19s %s\n", healths[f->health], f->name, seen);
		add_remedy(&b, f->remedy);
	}
	ab_buf_printf(&b, "%s\n", d->summary);
	if (d->better)
		ab_buf_printf(&b, "%s, %s\n",
			      d->engine ? "for a better engine" : "to run boxes here", d->better);
	return ab_buf_take(&b);
}

char *ab_diagnosis_json(const struct ab_diagnosis *d)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'checks':[");
	for (size_t i = 0; i < d->len; i++)
		ab_buf_jsonf(&b, ",{'name':%s,'result':%s,'seen':%s,'remedy':%s}", d->v[i].name,
			     healths[d->v[i].health], d->v[i].seen,
			     ab_text_or_null(d->v[i].remedy));
	ab_buf_jsonf(&b, "],'summary':%s,'engine':%s,'better':%s,'ok':%hhd}\n", d->summary,
		     d->engine, d->better, (bool)!d->failed);
	return ab_buf_take(&b);
}

void ab_diagnosis_fini(struct ab_diagnosis *d)
{
	for (size_t i = 0; i < d->len; i++)
		ab_free_all(d->v[i].seen, d->v[i].remedy);
	ab_free_all(d->v, d->summary, d->better);
	*d = (struct ab_diagnosis){ 0 };
}

char *ab_attack_text(const struct ab_attack *attack)
{
	struct ab_buf b = { 0 };
	const char *wall = "";

	for (size_t i = 0; i < attack->len; i++) {
		const struct ab_attempt *a = &attack->v[i];
		ab_autofree char *seen = ab_escape(a->seen);

		if (strcmp(wall, a->wall) != 0)
			ab_buf_printf(&b, "%s\n", a->wall);
		wall = a->wall;
		ab_buf_printf(&b, "  %-9s  %-46s %s\n", holds[a->hold].shown, a->name, seen);
	}
	ab_buf_printf(&b, "%s\n", attack->summary);
	return ab_buf_take(&b);
}

char *ab_attack_json(const struct ab_attack *attack)
{
	struct ab_buf b = { 0 };

	ab_buf_jsonf(&b, "{'attempts':[");
	for (size_t i = 0; i < attack->len; i++) {
		const struct ab_attempt *a = &attack->v[i];

		ab_buf_jsonf(&b, ",{'wall':%s,'name':%s,'result':%s,'seen':%s}", a->wall, a->name,
			     holds[a->hold].word, a->seen);
	}
	ab_buf_jsonf(&b, "],'summary':%s,'ok':%hhd}\n", attack->summary, (bool)!attack->broken);
	return ab_buf_take(&b);
}
