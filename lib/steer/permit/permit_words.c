#include <inttypes.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/mem.h"
#include "base/text/units.h"
#include "session/ask/process_chain.h"
#include "shell/syntax/quote.h"
#include "steer/client/json.h"
#include "steer/permit/permit_state.h"

/* A command line that is longer is not copied from a sentence. */
enum { COMMAND_MAX = 400 };

/* Can it be shown, and copied from a terminal? */
static bool is_plain(const char *text)
{
	size_t left = strlen(text), n;

	for (; left; text += n, left -= n) {
		n = ab_printable(text, left);
		if (n == 0)
			return false;
	}
	return true;
}

char *ab_permit_flag(const char *flag, const char *value)
{
	struct ab_buf b = { 0 };

	ab_buf_printf(&b, "%s ", flag);
	if (is_plain(value))
		ab_quote(&b, value);
	else
		ab_buf_puts(&b, "...");
	return ab_buf_take(&b);
}

/* What stands behind "--". */
static void add_command(struct ab_buf *b, const json_t *start)
{
	ab_autobuf struct ab_buf words = { 0 };

	ab_run_process_chain_command(&words, json_object_get(start, "command"), COMMAND_MAX);
	if (words.len && words.len <= COMMAND_MAX && is_plain(words.data))
		ab_buf_puts(b, words.data);
	else
		ab_buf_puts(b, "...");
}

/* Those options of the run that its record still knows. */
static void add_options(struct ab_buf *b, const json_t *start)
{
	const char *profile = ab_json_text(json_object_get(start, "policy"), "profile");
	const char *workspace = ab_json_text(json_object_get(start, "policy"), "workspace");
	const char *cwd = ab_json_text(start, "cwd");

	if (*profile && strcmp(profile, "default") != 0) {
		ab_buf_puts(b, "--profile ");
		ab_quote(b, profile);
		ab_buf_puts(b, " ");
	}
	if (*workspace && strcmp(workspace, cwd) != 0) {
		ab_buf_puts(b, "--workspace ");
		ab_quote(b, workspace);
		ab_buf_puts(b, " ");
	}
}

char *ab_permit_again(const struct ab_again *again, const char *flags)
{
	const char *cwd = ab_json_text(again->start, "cwd");
	struct ab_buf b = { 0 };

	if (*cwd && strcmp(cwd, again->cwd) != 0) {
		ab_buf_puts(&b, "cd ");
		ab_quote(&b, cwd);
		ab_buf_puts(&b, " && ");
	}
	ab_buf_puts(&b, "agentbox run ");
	add_options(&b, again->start);
	ab_buf_printf(&b, "%s%s-- ", flags, *flags ? " " : "");
	add_command(&b, again->start);
	return ab_buf_take(&b);
}

char *ab_permit_sentence(const char *run, const char *entry, bool deny, uint64_t for_ms,
			 uint64_t released)
{
	struct ab_buf b = { 0 };
	char room[48];

	ab_buf_printf(&b, "%s: %s is %s for %s", run, entry, deny ? "denied" : "allowed",
		      for_ms ? ab_format_duration(for_ms, room) : "this run");
	if (released)
		ab_buf_printf(&b, "; %" PRIu64 " request%s that waited go%s on", released,
			      released == 1 ? "" : "s", released == 1 ? "es" : "");
	return ab_buf_take(&b);
}
