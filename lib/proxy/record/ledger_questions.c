/* Records of questions, grants and alarms during a run. */
#include "proxy/record/ledger.h"

#include <stdlib.h>

#include "audit/write/audit.h"
#include "audit/write/log.h"
#include "base/data/mem.h"
#include "proxy/filter/budgets.h"
#include "proxy/record/ledger_state.h"

static struct ab_denial *find_denial(struct ab_ledger *ledger, uint32_t number)
{
	return number && number <= ledger->len ? &ledger->v[number - 1] : NULL;
}

bool ab_ledger_seeks(struct ab_ledger *ledger, uint32_t number)
{
	struct ab_denial *d = find_denial(ledger, number);

	if (!d || d->sought)
		return false;
	d->sought = true;
	return true;
}

void ab_ledger_who(struct ab_ledger *ledger, uint32_t number, const char *nearest)
{
	struct ab_denial *d = find_denial(ledger, number);

	if (!d || d->who)
		return;
	d->who = ab_strdup(nearest);
}

int ab_ledger_question(struct ab_ledger *ledger, const struct ab_question_record *q,
		       struct ab_error *err)
{
	struct ab_buf *line = &ledger->line;
	char id[AB_DENIAL_ID] = "";

	if (q->number)
		ab_ledger_id(ledger, q->number, id);
	ab_record_open(line, ledger->run_id, "question");
	ab_record_maybe(line, "id", id);
	ab_record_maybe(line, "domain", q->host);
	if (q->port)
		ab_record_number(line, "port", q->port);
	else
		ab_record_json(line, "port", "null");
	ab_record_maybe(line, "door", q->door < AB_DOOR_COUNT ? ab_door_names[q->door] : NULL);
	ab_record_text(line, "answer", q->answer);
	ab_record_maybe(line, "by", q->by);
	ab_record_number(line, "waiting", q->waiting);
	ab_record_number(line, "ms", (int64_t)q->ms);
	if (q->process)
		ab_record_json(line, "process", q->process);
	return ab_log_write(ledger->log, line, err);
}

int ab_ledger_grant(struct ab_ledger *ledger, const char *entry, bool allowed, uint64_t for_ms,
		    bool taken, const char *by, struct ab_error *err)
{
	struct ab_buf *line = &ledger->line;

	ab_record_open(line, ledger->run_id, "grant");
	ab_record_text(line, "entry", entry);
	ab_record_json(line, "allowed", allowed ? "true" : "false");
	ab_record_maybe(line, "by", by);
	ab_record_number(line, "for_ms", (int64_t)for_ms);
	if (!taken)
		ab_record_text(line, "error", "the run has too many grants");
	return ab_log_write(ledger->log, line, err);
}

int ab_ledger_alarm(struct ab_ledger *ledger, const struct ab_threshold_alarm *alarm,
		    struct ab_error *err)
{
	struct ab_buf *line = &ledger->line;

	ab_record_open(line, ledger->run_id, "monitor");
	ab_record_text(line, "threshold", alarm->threshold);
	ab_record_number(line, "value", (int64_t)alarm->value);
	ab_record_number(line, "limit", (int64_t)alarm->limit);
	ab_record_text(line, "action", ab_alarm_names[alarm->action]);
	ab_record_maybe(line, "domain", alarm->host);
	return ab_log_write(ledger->log, line, err);
}
