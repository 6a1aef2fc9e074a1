/*
 * New lists of hosts for a run that goes on.
 */
#include <string.h>

#include "audit/write/audit.h"
#include "base/data/buf.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "policy/model/policy.h"
#include "proxy/filter/filter.h"
#include "session/control/steering_state.h"

/* As the run began. */
static int fill_in(struct ab_steering *d, struct ab_error *err)
{
	static const struct ab_strv none;
	ab_autobuf struct ab_buf text = { 0 };

	if (d->listed)
		return 0;
	ab_host_lists_write(&text, d->setup.policy, &none);
	if (ab_host_lists_read(text.data, text.len, &d->lists, err) < 0)
		return -1;
	d->listed = true;
	return 0;
}

/* What learns goes on learning; and where nobody can be asked, nobody is. */
static enum ab_unknown unknown_now(const struct ab_steering *d, enum ab_unknown unknown)
{
	if (d->setup.policy->net.unknown == AB_UNKNOWN_LEARN)
		return AB_UNKNOWN_LEARN;
	return unknown == AB_UNKNOWN_ASK && !ab_steering_asks(&d->setup) ? AB_UNKNOWN_DENY
									 : unknown;
}

/*
 * Hosts that would be looked into from now on: the box has neither the
 * certificates nor the placeholders for it, so they stay closed until a new
 * run, rather than open without what was asked for.
 */
static void close_intercepted(const struct ab_host_lists *before, struct ab_host_lists *after,
			      struct ab_strv *changes)
{
	for (size_t i = 0; i < after->intercepted.len; i++) {
		const char *entry = after->intercepted.v[i];

		if (ab_strv_has(&before->intercepted, entry))
			continue;
		ab_strv_add(&after->deny, entry);
		ab_strv_addf(changes,
			     "! %s has a secret or a rule about paths now: "
			     "closed until a new run",
			     entry);
	}
}

static void record(struct ab_steering *d, const struct ab_strv *changes, const struct ab_error *err)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, d->setup.run_id, "reload");
	ab_record_list(&line, "changes", changes);
	if (err)
		ab_record_text(&line, "error", err->text);
	ab_steering_record(d, &line);
}

static void put_in_force(struct ab_steering *d, bool cut)
{
	struct ab_policy policy = *d->setup.policy;

	policy.net.allow = d->lists.allow;
	policy.net.deny = d->lists.deny;
	policy.net.allow_private = d->lists.allow_private;
	policy.net.unknown = d->lists.unknown;
	ab_proxy_replace(ab_steering_proxy(d), ab_filter_new(&policy));
	if (cut)
		ab_proxy_cut_denied(ab_steering_proxy(d));
}

int ab_steering_use_lists(struct ab_steering *d, const struct ab_broker_news *news, bool cut,
			  struct ab_strv *ret_changes, struct ab_error *err)
{
	struct ab_host_lists lists = { 0 };

	if (!ab_steering_proxy(d))
		return ab_fail(err, AB_ESYSTEM, 0, "there is no network");
	if (!news->text) {
		*err = news->error;
		record(d, ret_changes, err);
		return -1;
	}
	if (fill_in(d, err) < 0 || ab_host_lists_read(news->text, news->len, &lists, err) < 0) {
		record(d, ret_changes, err);
		return -1;
	}
	lists.unknown = unknown_now(d, lists.unknown);
	close_intercepted(&d->lists, &lists, ret_changes);
	ab_host_lists_compare(&d->lists, &lists, ret_changes);
	/* Closed ones stay so at the next change, too. */
	ab_strv_fini(&lists.intercepted);
	lists.intercepted = d->lists.intercepted;
	d->lists.intercepted = (struct ab_strv){ 0 };
	ab_host_lists_fini(&d->lists);
	d->lists = lists;
	put_in_force(d, cut);
	if (ret_changes->len)
		record(d, ret_changes, NULL);
	return 0;
}
