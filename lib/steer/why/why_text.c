#include "steer/why/why_text.h"

#include <ctype.h>

#include "audit/read/query.h"
#include "audit/read/sentences.h"
#include "audit/read/words.h"
#include "consent/ask/process_chain.h"
#include "policy/model/config.h"
#include "shell/syntax/quote.h"
#include "steer/client/json.h"

enum { VALUES = 8, CHAIN = 8, ARGV_MAX = 120 };

void ab_why_add_way(struct ab_strv *ways, const char *effect, const char *fmt, ...)
{
	va_list ap;

	ab_strv_add(ways, effect);
	va_start(ap, fmt);
	ab_strv_give(ways, ab_vprintf(fmt, ap));
	va_end(ap);
}

void ab_why_put_ways(struct ab_buf *b, const char *margin, const struct ab_strv *ways)
{
	size_t width = 0;

	for (size_t i = 0; i + 1 < ways->len; i += 2)
		width = strlen(ways->v[i]) > width ? strlen(ways->v[i]) : width;
	for (size_t i = 0; i + 1 < ways->len; i += 2)
		ab_words_safe(b, "%s%s:%*s  %s\n", margin, ways->v[i],
			      (int)(width - strlen(ways->v[i])), "", ways->v[i + 1]);
}

static bool add_command(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_process_chain_command(b, json_object_get(c->start, "command"), SIZE_MAX);
	return b->len && ab_all_printable(b->data);
}

/* A hint ends with "...", which stands for the command. */
static void add_again(const struct ab_why_case *c, const char *hint, struct ab_strv *ret)
{
	ab_autobuf struct ab_buf command = { 0 };
	ab_autofree char *safe = ab_escape(hint);
	size_t len = strlen(safe);
	bool whole;

	if (!*safe)
		return;
	whole = len > 3 && strcmp(safe + len - 3, "...") == 0 && add_command(c, &command);
	ab_why_add_way(ret,
		       c->live ? "allow it in a new run (add its other options)"
			       : "run it again (add its other options)",
		       "%.*s%s", (int)(whole ? len - 3 : len), safe, whole ? command.data : "");
}

static void remedy_command(const struct ab_why_case *c, const json_t *record, struct ab_strv *ret)
{
	ab_autofree char *rule = ab_escape(ab_json_text(record, "rule"));

	if (ab_json_is(record, "decision", "escalated"))
		add_again(c, "agentbox run --yes -- ...", ret);
	if (*rule)
		ab_why_add_way(ret, "change the rule in your settings",
			       "agentbox config set commands.override.%s sandboxed", rule);
}

/* A grant for the run lifts a host that is on no list, and an answer "no". */
static bool is_liftable(const struct ab_why_case *c)
{
	if (!c->denied)
		return !c->first || ab_json_is(c->question, "answer", "no") ||
		       ab_json_is(c->question, "answer", "timeout");
	return *ab_json_text(c->denied, "domain") &&
	       (ab_json_is(c->denied, "rule", "grant") ||
		ab_json_is(c->denied, "rule", "network.allow"));
}

static void add_always(const struct ab_why_case *c, struct ab_strv *ret)
{
	ab_why_add_way(ret, "allow it always", "agentbox allow %s --always", c->id);
	ab_why_add_way(ret, "allow it in this project", "agentbox allow %s --project", c->id);
}

static void remedy_host(const struct ab_why_case *c, struct ab_strv *ret)
{
	if (c->live)
		ab_why_add_way(ret, "allow it in this run", "agentbox allow %s", c->id);
	if (c->barred) {
		ab_why_add_way(ret, "allow it always", "agentbox allow %s --always", c->id);
		ab_why_add_way(ret, "take it off the deny list", "agentbox deny %s --undo",
			       c->barred);
		return;
	}
	add_always(c, ret);
	if (!c->first)
		ab_why_add_way(ret, "deny it", "agentbox deny %s", c->id);
}

/* Only an entry that is the host itself is known from the record. */
static void remedy_denied(const struct ab_why_case *c, struct ab_strv *ret)
{
	const char *host = ab_json_text(c->denied, "domain");
	ab_autofree char *itself = ab_printf("on the deny list (%s)", host);

	if (ab_origin_is_undoable(ab_json_text(c->denied, "from")) &&
	    ab_json_is(c->denied, "reason", itself))
		ab_why_add_way(ret, "take it off the deny list", "agentbox deny %s --undo", host);
}

/* git and others write "x.lock" and rename it to "x", which is what a person means. */
static char *name_locked(const char *path)
{
	return ab_strndup(path, strlen(path) - (ab_ends_with(path, ".lock") ? strlen(".lock") : 0));
}

/* If opening the folder would be too much there is no hint. The file itself can be
 * allowed, but must exist first. */
static void remedy_file(const struct ab_why_case *c, struct ab_strv *ret)
{
	ab_autofree char *path = name_locked(ab_json_text(c->denied, "path"));
	ab_autobuf struct ab_buf word = { 0 };

	if (*ab_json_text(c->denied, "hint")) {
		ab_why_add_way(ret, "allow it in the next run", "agentbox allow %s", c->id);
		add_always(c, ret);
		return;
	}
	ab_quote(&word, path);
	if (path[0] == '/' && strncmp(path, "/proc/", 6) != 0 && ab_all_printable(word.data))
		ab_why_add_way(ret, "create it, then allow it in the next run", "agentbox allow %s",
			       word.data);
}

/* It is in quarantine, or was not created at all. */
static void remedy_protected(const struct ab_why_case *c, struct ab_strv *ret)
{
	if (ab_json_is(c->denied, "door", "quarantine")) {
		ab_why_add_way(ret, "look at it", "agentbox quarantine show %s", c->id);
		ab_why_add_way(ret, "put it back", "agentbox quarantine restore %s", c->id);
	}
	/* Without a hint it is part of a repository that the run created, or agentbox's own. */
	if (*ab_json_text(c->denied, "hint"))
		ab_why_add_way(ret, "allow it always, in this project",
			       "agentbox allow %s --always", c->id);
}

void ab_why_remedies(const struct ab_why_case *c, struct ab_strv *ret)
{
	bool file = ab_json_is(c->denied, "door", "file") || ab_json_is(c->denied, "door", "call");

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
	if (ab_json_is(c->denied, "rule", "network.deny"))
		remedy_denied(c, ret);
	/* Only writes can be allowed by id. */
	if (file && ab_json_is(c->denied, "rule", "filesystem.write"))
		remedy_file(c, ret);
	if (ab_json_is(c->denied, "rule", "filesystem.denyWrite"))
		remedy_protected(c, ret);
	/* Its option would not override the deny list. */
	if (!c->barred)
		add_again(c, ab_json_text(c->denied, "hint"), ret);
}

const char *ab_why_advice(const struct ab_why_case *c)
{
	const char *rule = ab_json_text(c->denied, "rule");
	ab_autostrv struct ab_strv r = { 0 };

	if (!*rule)
		return NULL;
	ab_why_remedies(c, &r);
	if (r.len)
		return NULL;
	/* An option is nowhere in the settings. */
	if (strncmp(ab_json_text(c->denied, "from"), "--", 2) == 0)
		return "deny rules override allow rules; run it without the option that denies it";
	return ab_remedy_find(rule)->words;
}

/* A part of the sentence about a record. */
static void put_sentence(struct ab_buf *b, unsigned int parts, const json_t *record)
{
	ab_autofree char *line = json_dumps(record, JSON_COMPACT);

	if (line)
		ab_sentence(b, parts, line, strlen(line));
	ab_buf_puts(b, "");
}

static void say_denied(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_autobuf struct ab_buf about = { 0 }, reason = { 0 };
	ab_autofree char *rule = ab_escape(ab_json_text(c->denied, "rule"));

	put_sentence(&about, AB_ABOUT, c->denied);
	put_sentence(&reason, AB_SAID, c->denied);
	ab_words_denied(b, about.data, reason.data, rule, c->id);
}

static void say_when(const struct ab_why_case *c, struct ab_buf *b)
{
	char first[AB_LOCAL_ROOM], last[AB_LOCAL_ROOM];

	if (!c->first) {
		json_int_t left = json_integer_value(json_object_get(c->question, "left_ms"));

		ab_buf_printf(b,
			      "It is waiting for an answer, and is denied in %lld s without one.\n",
			      (long long)(left + 999) / 1000);
		return;
	}
	ab_time_local(c->first, first);
	ab_time_local(c->last, last);
	if (c->count == 0)
		ab_buf_printf(b, "It happened at %s.\n", first);
	else if (c->count == 1)
		ab_buf_printf(b, "It was denied once, at %s.\n", first);
	else if (strcmp(first, last) == 0)
		ab_buf_printf(b, "It was denied %llu times, at %s.\n", (unsigned long long)c->count,
			      first);
	else
		ab_buf_printf(b, "It was denied %llu times, from %s to %s.\n",
			      (unsigned long long)c->count, first, last);
}

static void add_process(struct ab_buf *b, const json_t *process)
{
	const json_t *argv = json_object_get(process, "argv"), *word;
	ab_autobuf struct ab_buf words = { 0 };
	json_int_t pid = json_integer_value(json_object_get(process, "pid"));
	const char *exe = ab_json_text(process, "exe");
	size_t i;

	json_array_foreach(argv, i, word)
		ab_buf_printf(&words, "%s%s", i ? " " : "",
			      json_string_value(word) ? json_string_value(word) : "");
	ab_words_short(b, words.len ? words.data : exe, ARGV_MAX);
	if (pid > 0)
		ab_buf_printf(b, " (pid %lld%s", (long long)pid, *exe ? ", " : "");
	else
		ab_buf_puts(b, *exe ? " (" : "");
	ab_words_short(b, exe, ARGV_MAX);
	ab_buf_puts(b, pid > 0 || *exe ? ")" : "");
}

static void say_who(const struct ab_why_case *c, struct ab_buf *b)
{
	const json_t *chain = json_object_get(c->denied, "process"), *one;
	const char *by = ab_json_text(c->denied, "by");
	size_t i;

	if (!json_array_size(chain))
		chain = json_object_get(c->question, "process");
	if (!json_array_size(chain) && *by) {
		ab_buf_puts(b, "The process was ");
		ab_words_short(b, by, ARGV_MAX);
		ab_buf_puts(b, ".\n");
		return;
	}
	json_array_foreach(chain, i, one)
	{
		if (i == CHAIN)
			break;
		ab_buf_puts(b, i ? ",\n  started by " : "The process was ");
		add_process(b, one);
	}
	if (json_array_size(chain))
		ab_buf_puts(b, ".\n");
	else if (ab_json_is(c->denied, "door", "udp"))
		ab_buf_puts(b, "The process is not known: no process of the box had the socket any "
			       "more, or several sockets had its port.\n");
}

/* The value of a rule like "network.allow" in the run; NULL if it is not a key. */
static const json_t *find_value(const json_t *start, const char *rule)
{
	const json_t *policy = json_object_get(start, "policy");
	const char *dot = strchr(rule, '.');
	ab_autofree char *group = dot ? ab_strndup(rule, (size_t)(dot - rule)) : NULL;

	return dot ? json_object_get(json_object_get(policy, group), dot + 1) : NULL;
}

static void add_values(struct ab_buf *b, const json_t *value)
{
	const json_t *one;
	size_t i;

	if (json_is_string(value)) {
		ab_buf_puts(b, "is ");
		ab_words_short(b, json_string_value(value), ARGV_MAX);
		return;
	}
	if (!json_array_size(value)) {
		ab_buf_puts(b, "is empty");
		return;
	}
	ab_buf_puts(b, "contains ");
	json_array_foreach(value, i, one)
	{
		ab_autofree char *dump = json_dumps(one, JSON_ENCODE_ANY | JSON_COMPACT);
		const char *text = json_string_value(one);

		if (i == VALUES) {
			ab_buf_printf(b, " and %zu more", json_array_size(value) - i);
			break;
		}
		ab_buf_puts(b, i ? ", " : "");
		ab_words_short(b, text ? text : dump, ARGV_MAX);
	}
}

/* " (from --allow and ~/.config/agentbox/config.json:3)" */
static void add_origin(struct ab_buf *b, const json_t *start, const char *rule)
{
	const json_t *places = json_object_get(json_object_get(start, "origins"), rule), *one;
	const char *profile = ab_json_text(json_object_get(start, "policy"), "profile");
	size_t i, n = json_array_size(places);

	if (!n && *profile)
		ab_words_safe(b, " (profile %s)", profile);
	json_array_foreach(places, i, one)
	{
		if (i == VALUES)
			break;
		ab_buf_puts(b, !i ? " (from " : i + 1 == n ? " and " : ", ");
		ab_words_short(b, json_string_value(one) ? json_string_value(one) : "", ARGV_MAX);
	}
	if (n > VALUES)
		ab_buf_printf(b, " and %zu more places", n - VALUES);
	ab_buf_puts(b, n ? ")" : "");
}

static void say_rule(const struct ab_why_case *c, struct ab_buf *b)
{
	const char *rule = ab_json_text(c->denied, "rule");
	const json_t *value = find_value(c->start, rule);
	const char *from = ab_json_text(c->denied, "from");

	if (!json_is_array(value) && !json_is_string(value))
		return;
	ab_words_safe(b, "In this run %s ", rule);
	add_values(b, value);
	add_origin(b, c->start, rule);
	ab_buf_puts(b, ".\n");
	if (*from)
		ab_words_safe(b, "The entry that denied it is from %s.\n", from);
}

/* What the client saw, if it did not get an HTTP answer. */
static void say_answer(const struct ab_why_case *c, struct ab_buf *b)
{
	static const struct {
		const char *door, *words;
	} doors[] = {
		{ "socks", "The client got SOCKS reply 2 (not allowed)." },
		{ "transparent", "The connection was reset." },
		{ "dns", "The client got the DNS answer that the name does not exist." },
		{ "publish", "The connection was closed." },
		{ "container", "The client got the reason and the id as the engine's answer." },
		{ "tool",
		  "The command in the box printed the reason and the id, and ended with 126." },
		{ "host-port", "The connection was closed." },
		{ "udp", "The program was told that the destination is unreachable." },
	};
	json_int_t status = json_integer_value(json_object_get(c->request, "status"));

	if (status > 0) {
		/* A malformed request gets the reason only (own_answer.c). */
		ab_buf_printf(b, "The client got HTTP status %lld with the %s above.\n",
			      (long long)status, status == 403 ? "sentence" : "reason");
		return;
	}
	for (size_t i = 0; i < AB_COUNT(doors); i++)
		if (ab_json_is(c->denied, "door", doors[i].door))
			ab_buf_printf(b, "%s\n", doors[i].words);
}

/* The answer to the question about it. */
static void say_question(const struct ab_why_case *c, struct ab_buf *b)
{
	if (!*ab_json_text(c->question, "answer"))
		return;
	ab_buf_puts(b, "agentbox asked about it: ");
	put_sentence(b, AB_SAID, c->question);
	ab_buf_puts(b, ".\n");
}

/* Nothing was denied, or no record says so. */
static void say_asked_only(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_buf_puts(b, !c->question ? "agentbox has a record of "
		       : c->first   ? "agentbox asked about "
				    : "agentbox asks about ");
	put_sentence(b, AB_ABOUT, c->question ? c->question : c->request);
	ab_buf_printf(b, " (id %s).\n", c->id);
}

static void say_remedies(const struct ab_why_case *c, struct ab_buf *b)
{
	const char *advice = ab_why_advice(c);
	ab_autostrv struct ab_strv r = { 0 };

	ab_why_remedies(c, &r);
	ab_buf_puts(b, r.len ? "\nA human can:\n" : "");
	ab_why_put_ways(b, "  ", &r);
	if (advice) {
		size_t at = b->len + 1;

		ab_buf_printf(b, "\n%s.\n", advice);
		b->data[at] = (char)toupper((unsigned char)b->data[at]);
	}
}

void ab_why_text(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_autobuf struct ab_buf command = { 0 };

	if (!c->denied)
		say_asked_only(c, b);
	else
		say_denied(c, b);
	ab_buf_puts(b, "\n");
	say_when(c, b);
	say_who(c, b);
	say_rule(c, b);
	say_answer(c, b);
	say_question(c, b);
	ab_buf_puts(b, c->live ? "The run is active: " : "The run has ended: ");
	add_command(c, &command);
	ab_words_short(b, command.data ? command.data : "", ARGV_MAX);
	ab_buf_puts(b, "\n");
	say_remedies(c, b);
}

void ab_why_refused(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_autobuf struct ab_buf command = { 0 };
	char at[AB_LOCAL_ROOM];

	add_command(c, &command);
	ab_words_safe(b, "agentbox refused to run %s: ", command.data ? command.data : "");
	ab_words_clause(b, ab_json_text(c->start, "reason"));
	ab_words_safe(b, " (rule %s).\n", ab_json_text(c->start, "rule"));
	ab_buf_puts(b, "\n");
	ab_words_safe(b, "It was refused before it started, at %s in %s.\n",
		      ab_time_local(c->first, at), ab_json_text(c->start, "cwd"));
	say_remedies(c, b);
}
