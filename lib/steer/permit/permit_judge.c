#include <string.h>

#include "audit/read/sentences.h"
#include "base/data/error.h"
#include "base/data/mem.h"
#include "shell/command/rules.h"
#include "steer/client/json.h"
#include "steer/permit/permit_state.h"

/* The options in the record's own hint: "agentbox run OPTIONS -- ...". */
static char *hinted_flags(const json_t *record)
{
	static const char start[] = "agentbox run ", end[] = " -- ...";
	const char *hint = ab_json_text(record, "hint");
	const char *stop = strstr(hint, end);

	if (strncmp(hint, start, strlen(start)) != 0 || !stop)
		return NULL;
	hint += strlen(start);
	return stop > hint ? ab_strndup(hint, (size_t)(stop - hint)) : NULL;
}

static char *find_flags(const struct ab_remedy *remedy, const json_t *record)
{
	ab_autofree char *value = NULL;

	if (!remedy->flag)
		return hinted_flags(record);
	if (!*ab_json_text(record, "path"))
		return NULL;
	value = ab_printf("%s%s", remedy->value, ab_json_text(record, "path"));
	return ab_permit_flag(remedy->flag, value);
}

static int refuse(const char *id, const json_t *record, const struct ab_again *again,
		  struct ab_error *err)
{
	const struct ab_remedy *remedy = ab_remedy_find(ab_json_text(record, "rule"));
	ab_autofree char *flags = remedy->rule ? find_flags(remedy, record) : NULL;
	ab_autofree char *line = flags ? ab_permit_again(again, flags) : NULL;
	const char *reason = ab_json_text(record, "reason");

	ab_fail(err, AB_EREFUSED, 0, "%s cannot be allowed: %s", id,
		*reason ? reason : "it was not a rule that refused it");
	return ab_hint(err, "%s%s%s", remedy->words, line ? "\nin a new run:  " : "",
		       line ? line : "");
}

/* The rules about programs are those that the run began with. */
static int refuse_program(const char *id, const json_t *record, const struct ab_again *again,
			  struct ab_error *err)
{
	const char *rule = ab_json_text(record, "rule");
	bool ask = ab_json_is(record, "decision", ab_decision_names[AB_ESCALATED]);
	ab_autofree char *yes = ask ? ab_permit_again(again, "--yes") : NULL;
	enum ab_rule_id known;

	ab_fail(err, AB_EREFUSED, 0,
		"%s cannot be allowed: programs are judged by the rules that "
		"the run began with",
		id);
	if (ab_rule_find(rule, strlen(rule), &known))
		return ab_hint(err,
			       "%s%s%sin every run:   { \"commands\": { \"override\": "
			       "{ \"%s\": \"sandboxed\" } } } in "
			       "~/.config/agentbox/config.json",
			       ask ? "in a new run:  " : "", ask ? yes : "", ask ? "\n" : "", rule);
	return ab_hint(err,
		       "%s%s%sthe rule is one of your own (commands.rules): "
		       "agentbox rules list",
		       ask ? "in a new run:  " : "", ask ? yes : "", ask ? "\n" : "");
}

/* The smallest rule about its host. What is denied is so with every port. */
static int judge_host(const char *id, const json_t *record, bool deny, struct ab_lift *ret,
		      struct ab_error *err)
{
	const char *name = ab_json_text(record, "domain");
	json_int_t port = json_integer_value(json_object_get(record, "port"));
	struct ab_host_entry entry;
	struct ab_host host;

	if (port < 0 || port > 65535 || ab_host_parse(name, strlen(name), &host, NULL) < 0)
		return ab_fail(err, AB_EREFUSED, 0, "%s: what was asked for is no host", id);
	entry = ab_host_entry_for(&host, deny ? 0 : (uint16_t)port);
	ab_host_entry_format(&entry, ret->entry);
	return 0;
}

/* Is a host of the network what it is about? */
static bool is_host(const json_t *record)
{
	return *ab_json_text(record, "domain") && !*ab_json_text(record, "call");
}

/* Rules that a word about the run is stronger than. */
static bool is_liftable(const char *rule)
{
	static const char *const rules[] = { "", "network.allow", "grant" };

	for (size_t i = 0; i < AB_COUNT(rules); i++)
		if (strcmp(rule, rules[i]) == 0)
			return true;
	return false;
}

int ab_permit_judge(const char *id, const json_t *record, bool deny, const struct ab_again *again,
		    struct ab_lift *ret, struct ab_error *err)
{
	const char *rule = ab_json_text(record, "rule");

	*ret = (struct ab_lift){ 0 };
	if (is_host(record) && (deny || is_liftable(rule)))
		return judge_host(id, record, deny, ret, err);
	if (deny)
		return ab_fail(err, AB_EREFUSED, 0, "%s was refused already, and stays so", id);
	if (ab_json_is(record, "kind", "exec"))
		return refuse_program(id, record, again, err);
	/* One that is not whole is no name to go by. */
	if (strcmp(rule, "filesystem.write") == 0 && ab_json_text(record, "path")[0] == '/') {
		ret->path = ab_json_text(record, "path");
		return 0;
	}
	return refuse(id, record, again, err);
}
