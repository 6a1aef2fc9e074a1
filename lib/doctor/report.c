/* Print a diagnosis and an attack, as text and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "doctor/attack/attack_result.h"
#include "doctor/doctor.h"

static const char *const healths[] = {
	[AB_HEALTH_OK] = "ok",
	[AB_HEALTH_WARN] = "warn",
	[AB_HEALTH_FAIL] = "fail",
	[AB_HEALTH_SKIP] = "skip",
};

static const char *const holds[] = {
	[AB_HOLD_HELD] = "stopped",
	[AB_HOLD_BROKEN] = "BROKEN",
	[AB_HOLD_UNTRIED] = "not tried",
	[AB_HOLD_UNCLAIMED] = "open",
};

static const char *const hold_words[] = {
	[AB_HOLD_HELD] = "held",
	[AB_HOLD_BROKEN] = "broken",
	[AB_HOLD_UNTRIED] = "untried",
	[AB_HOLD_UNCLAIMED] = "unclaimed",
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

	ab_buf_puts(&b, "{\"checks\":[");
	for (size_t i = 0; i < d->len; i++) {
		const struct ab_finding *f = &d->v[i];

		ab_buf_printf(&b,
			      "%s{\"name\":\"%s\",\"result\":\"%s\","
			      "\"seen\":",
			      i ? "," : "", f->name, healths[f->health]);
		ab_buf_json(&b, f->seen);
		ab_buf_puts(&b, ",\"remedy\":");
		if (f->remedy[0])
			ab_buf_json(&b, f->remedy);
		else
			ab_buf_puts(&b, "null");
		ab_buf_puts(&b, "}");
	}
	ab_buf_puts(&b, "],\"summary\":");
	ab_buf_json(&b, d->summary);
	ab_buf_json_member(&b, "engine", d->engine);
	ab_buf_json_member(&b, "better", d->better);
	ab_buf_printf(&b, ",\"ok\":%s}\n", d->failed ? "false" : "true");
	return ab_buf_take(&b);
}

void ab_diagnosis_fini(struct ab_diagnosis *d)
{
	for (size_t i = 0; i < d->len; i++) {
		free(d->v[i].seen);
		free(d->v[i].remedy);
	}
	free(d->v);
	free(d->summary);
	free(d->better);
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
		ab_buf_printf(&b, "  %-9s  %-46s %s\n", holds[a->hold], a->name, seen);
	}
	ab_buf_printf(&b, "%s\n", attack->summary);
	return ab_buf_take(&b);
}

char *ab_attack_json(const struct ab_attack *attack)
{
	struct ab_buf b = { 0 };

	ab_buf_puts(&b, "{\"attempts\":[");
	for (size_t i = 0; i < attack->len; i++) {
		const struct ab_attempt *a = &attack->v[i];

		ab_buf_printf(&b, "%s{\"wall\":\"%s\",\"name\":", i ? "," : "", a->wall);
		ab_buf_json(&b, a->name);
		ab_buf_printf(&b, ",\"result\":\"%s\",\"seen\":", hold_words[a->hold]);
		ab_buf_json(&b, a->seen);
		ab_buf_puts(&b, "}");
	}
	ab_buf_puts(&b, "],\"summary\":");
	ab_buf_json(&b, attack->summary);
	ab_buf_printf(&b, ",\"ok\":%s}\n", attack->broken ? "false" : "true");
	return ab_buf_take(&b);
}
