/* New lists of hosts for an active run. */

#include "audit/write/audit.h"
#include "policy/model/policy.h"
#include "proxy/filter/filter.h"
#include "session/control/steering_state.h"

/* The lists that the run began with. */
static int load_first_lists(struct ab_steering *s, struct ab_error *err)
{
	static const struct ab_strv none;
	ab_autobuf struct ab_buf text = { 0 };

	if (s->has_lists)
		return 0;
	ab_host_lists_write(&text, s->setup.policy, &none, &none);
	if (ab_host_lists_read(text.data, text.len, &s->lists, err) < 0)
		return -1;
	s->has_lists = true;
	return 0;
}

/* A learning run keeps learning; without anybody to ask, unknown hosts are denied. */
static enum ab_unknown choose_unknown(const struct ab_steering *s, enum ab_unknown unknown)
{
	if (s->setup.policy->net.unknown == AB_UNKNOWN_LEARN)
		return AB_UNKNOWN_LEARN;
	return unknown == AB_UNKNOWN_ASK && !ab_steering_asks(&s->setup) ? AB_UNKNOWN_DENY
									 : unknown;
}

/* Hosts that would be intercepted from now on: the box has neither the certificates nor the
 * placeholders, so they are denied until the next run, rather than allowed without interception. */
static void deny_intercepted(const struct ab_host_lists *before, struct ab_host_lists *after,
			     struct ab_strv *changes)
{
	for (size_t i = 0; i < after->intercepted.len; i++) {
		const char *entry = after->intercepted.v[i];

		if (ab_strv_has(&before->intercepted, entry))
			continue;
		ab_strv_add(&after->deny, entry);
		ab_strv_add(&after->deny_from, "");
		ab_strv_addf(changes,
			     "! %s now has a secret or a path rule: denied until the next run",
			     entry);
	}
}

/* A client that asks is told of all of them; what was told at once when a file changed is not repeated. */
static void add_waiting(const struct ab_host_lists *before, const struct ab_host_lists *after,
			bool all, struct ab_strv *changes)
{
	for (size_t i = 0; i < after->waiting.len; i++)
		if (all || !ab_strv_has(&before->waiting, after->waiting.v[i]))
			ab_strv_addf(changes,
				     "! %s applies from the next run on: this run keeps what it "
				     "started with",
				     after->waiting.v[i]);
}

static void record_reload(struct ab_steering *s, const struct ab_strv *changes,
			  const struct ab_error *err)
{
	ab_autobuf struct ab_buf line = { 0 };

	ab_record_open(&line, s->setup.run_id, "reload");
	ab_record_list(&line, "changes", changes);
	if (err)
		ab_record_text(&line, "error", err->text);
	ab_steering_record(s, &line);
}

static void put_in_force(struct ab_steering *s, bool cut)
{
	struct ab_policy policy = *s->setup.policy;

	policy.net.allow = s->lists.allow;
	policy.net.deny = s->lists.deny;
	policy.net.deny_from = s->lists.deny_from;
	policy.net.allow_private = s->lists.allow_private;
	policy.net.unknown = s->lists.unknown;
	ab_proxy_replace(ab_steering_proxy(s), ab_filter_new(&policy), cut);
}

int ab_steering_use_lists(struct ab_steering *s, const struct ab_broker_news *news, bool cut,
			  struct ab_strv *ret_changes, struct ab_error *err)
{
	struct ab_host_lists lists = { 0 };

	if (!ab_steering_proxy(s))
		return ab_fail(err, AB_ESYSTEM, 0, "this run has no filtered network");
	if (!news->text) {
		*err = news->error;
		record_reload(s, ret_changes, err);
		return -1;
	}
	if (load_first_lists(s, err) < 0 ||
	    ab_host_lists_read(news->text, news->len, &lists, err) < 0) {
		record_reload(s, ret_changes, err);
		return -1;
	}
	lists.unknown = choose_unknown(s, lists.unknown);
	deny_intercepted(&s->lists, &lists, ret_changes);
	ab_host_lists_compare(&s->lists, &lists, ret_changes);
	add_waiting(&s->lists, &lists, news->ticket != 0, ret_changes);
	/* The mode of a run never changes, and denied ones stay denied at the next change,
	 * too. */
	lists.mode = s->lists.mode;
	ab_strv_fini(&lists.intercepted);
	lists.intercepted = s->lists.intercepted;
	s->lists.intercepted = (struct ab_strv){ 0 };
	ab_host_lists_fini(&s->lists);
	s->lists = lists;
	put_in_force(s, cut);
	if (ret_changes->len)
		record_reload(s, ret_changes, NULL);
	return 0;
}
