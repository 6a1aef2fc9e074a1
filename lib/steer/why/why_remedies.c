#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "session/ask/process_chain.h"
#include "shell/syntax/quote.h"
#include "steer/client/json.h"
#include "steer/permit/permit_state.h"
#include "steer/why/why_text.h"

bool ab_why_is_file(const struct ab_why_case *c)
{
	return ab_json_is(c->denied, "door", "file") || ab_json_is(c->denied, "door", "call");
}

bool ab_why_command(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_autofree char *safe = NULL;

	ab_run_process_chain_command(b, json_object_get(c->start, "command"), SIZE_MAX);
	if (!b->len)
		return false;
	safe = ab_escape(b->data);
	return strcmp(safe, b->data) == 0;
}

/* A hint ends with "...", where the command goes. */
static void add_again(const struct ab_why_case *c, const char *hint, struct ab_strv *ret)
{
	ab_autobuf struct ab_buf command = { 0 };
	ab_autofree char *safe = ab_escape(hint);
	size_t len = strlen(safe);

	if (!*safe)
		return;
	ab_strv_add(ret, c->live ? "allow it in a new run, with its other options"
				 : "run it again, with its other options");
	if (len > 3 && strcmp(safe + len - 3, "...") == 0 && ab_why_command(c, &command))
		ab_strv_addf(ret, "%.*s%s", (int)(len - 3), safe, command.data);
	else
		ab_strv_add(ret, safe);
}

static void remedy_command(const struct ab_why_case *c, const json_t *record, struct ab_strv *ret)
{
	ab_autofree char *rule = ab_escape(ab_json_text(record, "rule"));

	if (ab_json_is(record, "decision", "escalated"))
		add_again(c, "agentbox run --yes -- ...", ret);
	if (!*rule)
		return;
	ab_strv_add(ret, "change the rule in ~/.config/agentbox/config.json");
	ab_strv_addf(ret,
		     "{ \"commands\": { \"override\": { \"%s\": "
		     "\"sandboxed\" } } }",
		     rule);
}

/* What a word about the run lifts: a host that is on no list, and a no. */
static bool is_liftable(const struct ab_why_case *c)
{
	if (!c->denied)
		return !c->first || ab_json_is(c->question, "answer", "no") ||
		       ab_json_is(c->question, "answer", "timeout");
	return *ab_json_text(c->denied, "domain") &&
	       (ab_json_is(c->denied, "rule", "grant") ||
		ab_json_is(c->denied, "rule", "network.allow"));
}

static void remedy_host(const struct ab_why_case *c, struct ab_strv *ret)
{
	if (c->live) {
		ab_strv_add(ret, "allow it in this run");
		ab_strv_addf(ret, "agentbox allow %s", c->id);
	}
	ab_strv_add(ret, "allow it always");
	ab_strv_addf(ret, "agentbox allow %s --always", c->id);
	if (!c->first) {
		ab_strv_add(ret, "refuse it");
		ab_strv_addf(ret, "agentbox deny %s", c->id);
	}
}

/* A folder that is too much to be opened has no hint, and its file may be new:
 * what is there can be allowed by itself. */
static void remedy_file(const struct ab_why_case *c, struct ab_strv *ret)
{
	const char *path = ab_json_text(c->denied, "path");
	ab_autobuf struct ab_buf word = { 0 };
	ab_autofree char *safe = NULL;

	if (*ab_json_text(c->denied, "hint")) {
		ab_strv_add(ret, "allow it in the next run");
		ab_strv_addf(ret, "agentbox allow %s", c->id);
		ab_strv_add(ret, "allow it always");
		ab_strv_addf(ret, "agentbox allow %s --always", c->id);
		return;
	}
	ab_quote(&word, path);
	safe = ab_escape(word.data);
	if (path[0] != '/' || strncmp(path, "/proc/", 6) == 0 || strcmp(safe, word.data) != 0)
		return;
	ab_strv_add(ret, "make the file, then allow it in the next run");
	ab_strv_addf(ret, "agentbox allow %s", word.data);
}

void ab_why_remedies(const struct ab_why_case *c, struct ab_strv *ret)
{
	if (ab_json_is(c->start, "kind", "refused")) {
		remedy_command(c, c->start, ret);
		return;
	}
	if (ab_json_is(c->denied, "kind", "exec")) {
		remedy_command(c, c->denied, ret);
		return;
	}
	if (is_liftable(c))
		remedy_host(c, ret);
	/* Of files, what was to be written; the rest is as it was when the run
	 * began. */
	if (ab_why_is_file(c) && ab_json_is(c->denied, "rule", "filesystem.write"))
		remedy_file(c, ret);
	add_again(c, ab_json_text(c->denied, "hint"), ret);
}

const char *ab_why_advice(const struct ab_why_case *c)
{
	const char *rule = ab_json_text(c->denied, "rule");
	ab_autostrv struct ab_strv r = { 0 };

	if (!*rule)
		return NULL;
	ab_why_remedies(c, &r);
	return r.len ? NULL : ab_permit_advice(rule);
}
