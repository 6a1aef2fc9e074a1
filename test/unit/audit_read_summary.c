#include "audit/read/summary.h"

#include "base/data/mem.h"
#include "base/data/strv.h"
#include "tap.h"

static const struct {
	const char *about, *next;
} rows[] = {
	{ "db.test:80", "agentbox run --allow-private 10.0.0.5:80 -- ..." },
	{ "10.0.0.5:80", "agentbox run --allow-private 10.0.0.5:80 --allow 10.0.0.5 -- ..." },
	{ "write /a --b", "agentbox run --write '/a --b' -- ..." },
	{ "write /it's --b", "agentbox run --write '/it'\\''s --b' --allow 10.0.0.5 -- ..." },
};

int main(void)
{
	ab_autostrv struct ab_strv lines = { 0 };
	struct ab_summary s = { .run_id = "7kq2" };

	for (size_t i = 0; i < AB_COUNT(rows); i++) {
		struct ab_summary_row *row = ab_summary_add(&s, 1);

		snprintf(row->id, sizeof(row->id), "7kq2-%zu", i);
		row->about = ab_strdup(rows[i].about);
		row->reason = ab_strdup("no");
		row->next = ab_strdup(rows[i].next);
		row->always = ab_printf("agentbox allow %s --always", row->id);
	}
	ab_summary_end(&s, "4 were denied", &lines);
	ok(lines.len == 7, "a line for each, and the remedies");
	is_str(lines.v[5],
	       "          allow them next time:  agentbox run --allow-private 10.0.0.5:80 "
	       "--allow 10.0.0.5 --write '/a --b' --write '/it'\\''s --b' -- ...",
	       "each option once, with its value");
	is_str(lines.v[6],
	       "          allow one always:      agentbox allow 7kq2-0 --always (or --project)",
	       "one below the other");
	return done();
}
