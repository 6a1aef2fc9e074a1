/*
 * Two texts, cut at the first NUL byte: the host's file and the box's. The result for a known file
 * must be a JSON object, and without a change of the box it must be the host's text. A login has no
 * member that the table of its agent does not name, and no value with a placeholder in it.
 */
#include "layer/giveback/credentials.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agents/agents.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/json_scan.h"

static const char *const paths[] = {
	".claude/.credentials.json",	   ".codex/auth.json",
	".gemini/oauth_creds.json",	   ".qwen/oauth_creds.json",
	".local/share/opencode/auth.json",
};

#define PLACEHOLDER "plc"

/* Accounts and lists have no names of the table. */
static void check_names(const char *path, const struct ab_json_scan *scan)
{
	const struct ab_agent_login *rule = NULL;

	for (size_t i = 0; ab_agents[i]; i++)
		if (ab_agents[i]->login.path && strstr(ab_agents[i]->login.path, path))
			rule = &ab_agents[i]->login;
	for (size_t i = 1; i < scan->len; i++) {
		const struct ab_json_scan_node *n = &scan->nodes[i];

		if (n->key && !(rule->types && n->up == i) && !strstr(rule->renewed, n->key) &&
		    !(rule->login && strstr(rule->login, n->key)))
			abort();
		if (n->text && strstr(n->text, PLACEHOLDER))
			abort();
	}
}

static void check_result(const char *path, const char *host, size_t host_len, const char *box,
			 size_t box_len)
{
	ab_autobuf struct ab_buf out = { 0 };
	ab_autoscan struct ab_json_scan scan = { 0 };
	static char placeholder[] = PLACEHOLDER;
	char *list[] = { placeholder, NULL };
	const struct ab_strv placeholders = { .v = list, .len = 1 };
	const char *why = NULL;

	if (ab_credentials_merge(path, host, host_len, box, box_len, &placeholders, &out, &why) <
	    0) {
		if (!why)
			abort();
		return;
	}
	if (ab_json_scan_parse(&scan, out.data, out.len) < 0 || scan.nodes[0].kind != '{')
		abort();
	if (!host)
		check_names(path, &scan);
	if (host == box && (out.len != host_len || memcmp(out.data, host, host_len) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *cut = memchr(text, '\0', size);
	size_t n = cut ? (size_t)(cut - text) : size;

	for (size_t i = 0; i < AB_COUNT(paths); i++) {
		check_result(paths[i], NULL, 0, text, n);
		check_result(paths[i], text, n, text, n);
		if (cut)
			check_result(paths[i], text, n, cut + 1, size - n - 1);
	}
	return 0;
}
