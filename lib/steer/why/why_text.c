#include "steer/why/why_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "audit/read/query.h"
#include "audit/read/words.h"
#include "base/data/buf.h"
#include "base/data/mem.h"
#include "steer/client/json.h"

enum { VALUES = 8, CHAIN = 8, ARGV_MAX = 120 };

/* Escaped, and cut if it is too long. */
static void add_short(struct ab_buf *b, const char *text, size_t most)
{
	ab_autofree char *safe = ab_escape(text);
	size_t n = 0, step;

	if (strlen(safe) <= most) {
		ab_buf_puts(b, safe);
		return;
	}
	while ((step = ab_printable(safe + n, strlen(safe + n))) > 0 && n + step <= most)
		n += step;
	ab_buf_add(b, safe, n);
	ab_buf_puts(b, "...");
}

/* "Publishes commits." becomes "publishes commits", within a sentence. */
static void add_clause(struct ab_buf *b, const char *sentence)
{
	size_t at = b->len;

	ab_buf_escape(b, sentence);
	if (b->len > at && b->data[b->len - 1] == '.')
		b->data[--b->len] = '\0';
	if (b->len > at + 1 && isupper((unsigned char)b->data[at]) &&
	    !isupper((unsigned char)b->data[at + 1]))
		b->data[at] = (char)tolower((unsigned char)b->data[at]);
}

/* The end of a first sentence: why, by which rule, and the id. */
static void add_grounds(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_buf_puts(b, ": ");
	add_clause(b, ab_json_text(c->denied, "reason"));
	ab_buf_puts(b, " (rule ");
	ab_buf_escape(b, ab_json_text(c->denied, "rule"));
	ab_buf_printf(b, ", id %s).\n", c->id);
}

static void say_network(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_autobuf struct ab_buf words = { 0 };
	const char *host = ab_json_text(c->denied, "domain");
	const char *protocol = ab_json_text(c->denied, "protocol");
	int port = (int)json_integer_value(json_object_get(c->denied, "port"));

	if (*protocol)
		ab_buf_printf(&words,
			      "agentbox blocked %lld %s packets: %s (rule %s, "
			      "id %s).\n",
			      (long long)json_integer_value(json_object_get(c->denied, "packets")),
			      protocol, ab_json_text(c->denied, "reason"),
			      ab_json_text(c->denied, "rule"), c->id);
	else
		ab_words_blocked(&words, &(struct ab_blocked){
						 .host = *host ? host : "other hosts",
						 .port = (uint16_t)port,
						 .reason = ab_json_text(c->denied, "reason"),
						 .rule = ab_json_text(c->denied, "rule"),
						 .id = c->id,
					 });
	ab_buf_escape_n(b, words.data, words.len - 1);
	ab_buf_puts(b, "\n");
}

static void say_program(const struct ab_why_case *c, struct ab_buf *b)
{
	const char *command = ab_json_text(c->denied, "command");

	ab_buf_puts(b, "agentbox did not start ");
	ab_buf_escape(b, *command ? command : ab_json_text(c->denied, "path"));
	add_grounds(c, b);
}

static void say_file(const struct ab_why_case *c, struct ab_buf *b)
{
	const char *path = ab_json_text(c->denied, "path");
	const char *access = ab_json_text(c->denied, "access");

	ab_buf_puts(b, "agentbox refused ");
	ab_buf_escape(b, *access ? access : ab_json_text(c->denied, "call"));
	ab_buf_puts(b, *path ? " " : "");
	ab_buf_escape(b, path);
	add_grounds(c, b);
}

static void say_when(const struct ab_why_case *c, struct ab_buf *b)
{
	char first[AB_LOCAL_ROOM], last[AB_LOCAL_ROOM];

	if (!c->first) {
		json_int_t left = json_integer_value(json_object_get(c->question, "left_ms"));

		ab_buf_printf(b,
			      "It waits for an answer; %lld s are left, and "
			      "no answer means no.\n",
			      (long long)(left + 999) / 1000);
		return;
	}
	ab_time_local(c->first, first);
	ab_time_local(c->last, last);
	if (c->count == 0)
		ab_buf_printf(b, "That was at %s.\n", first);
	else if (c->count == 1)
		ab_buf_printf(b, "It was refused once, at %s.\n", first);
	else if (strcmp(first, last) == 0)
		ab_buf_printf(b, "It was refused %llu times, at %s.\n",
			      (unsigned long long)c->count, first);
	else
		ab_buf_printf(b, "It was refused %llu times, from %s to %s.\n",
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
	add_short(b, words.len ? words.data : exe, ARGV_MAX);
	if (pid > 0)
		ab_buf_printf(b, " (pid %lld%s", (long long)pid, *exe ? ", " : "");
	else
		ab_buf_puts(b, *exe ? " (" : "");
	add_short(b, exe, ARGV_MAX);
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
		ab_buf_puts(b, "It was asked for by ");
		add_short(b, by, ARGV_MAX);
		ab_buf_puts(b, ".\n");
		return;
	}
	json_array_foreach(chain, i, one)
	{
		if (i == CHAIN)
			break;
		ab_buf_puts(b, i ? ",\n  started by " : "It was asked for by ");
		add_process(b, one);
	}
	ab_buf_puts(b, json_array_size(chain) ? ".\n" : "");
}

/* The value of a rule like "network.allow" in the run; NULL: it is no key. */
static const json_t *value_of(const json_t *start, const char *rule)
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
		add_short(b, json_string_value(value), ARGV_MAX);
		return;
	}
	if (!json_array_size(value)) {
		ab_buf_puts(b, "is empty");
		return;
	}
	ab_buf_puts(b, "holds ");
	json_array_foreach(value, i, one)
	{
		ab_autofree char *dump = json_dumps(one, JSON_ENCODE_ANY | JSON_COMPACT);
		const char *text = json_string_value(one);

		if (i == VALUES) {
			ab_buf_printf(b, " and %zu more", json_array_size(value) - i);
			break;
		}
		ab_buf_puts(b, i ? ", " : "");
		add_short(b, text ? text : dump, ARGV_MAX);
	}
}

static void say_rule(const struct ab_why_case *c, struct ab_buf *b)
{
	const char *rule = ab_json_text(c->denied, "rule");
	const json_t *value = value_of(c->start, rule);
	const json_t *policy = json_object_get(c->start, "policy");
	const char *profile = ab_json_text(policy, "profile");

	if (!json_is_array(value) && !json_is_string(value))
		return;
	ab_buf_puts(b, "In this run ");
	ab_buf_escape(b, rule);
	ab_buf_puts(b, " ");
	add_values(b, value);
	if (*profile) {
		ab_buf_puts(b, " (profile ");
		ab_buf_escape(b, profile);
		ab_buf_puts(b, ")");
	}
	ab_buf_puts(b, ".\n");
}

/* What the client saw, at doors that do not answer in HTTP. */
static void say_answer(const struct ab_why_case *c, struct ab_buf *b)
{
	static const struct {
		const char *door, *words;
	} doors[] = {
		{ "socks", "The client got SOCKS reply 2 (not allowed)." },
		{ "transparent", "The connection was reset." },
		{ "dns", "The client was told that there is no such name." },
		{ "publish", "The connection was closed." },
		{ "host-port", "The connection was closed." },
	};
	json_int_t status = json_integer_value(json_object_get(c->request, "status"));

	if (status > 0) {
		ab_buf_printf(b,
			      "The client got HTTP status %lld with the words "
			      "above.\n",
			      (long long)status);
		return;
	}
	for (size_t i = 0; i < AB_COUNT(doors); i++)
		if (ab_json_is(c->denied, "door", doors[i].door))
			ab_buf_printf(b, "%s\n", doors[i].words);
}

static void say_question(const struct ab_why_case *c, struct ab_buf *b)
{
	static const struct {
		const char *answer, *words;
	} answers[] = {
		{ "once", "A person was asked and allowed it once" },
		{ "run", "A person was asked and allowed it for this run" },
		{ "always", "A person was asked and allowed it for always" },
		{ "no", "A person was asked and said no" },
		{ "timeout", "A person was asked and nobody answered in time" },
		{ "gone", "A person was asked, and the client went away" },
	};

	for (size_t i = 0; i < AB_COUNT(answers); i++) {
		if (!ab_json_is(c->question, "answer", answers[i].answer))
			continue;
		ab_buf_puts(b, answers[i].words);
		if (ab_json_is(c->question, "by", "approver"))
			ab_buf_puts(b, " (by the approver program)");
		ab_buf_puts(b, ".\n");
	}
}

/* Nothing was refused, or no record says so. */
static void say_asked_only(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_autofree char *line = json_dumps(c->question ? c->question : c->request, JSON_COMPACT);

	ab_buf_puts(b, !c->question ? "agentbox has a record of "
		       : c->first   ? "agentbox asked about "
				    : "agentbox asks about ");
	if (line)
		ab_words_about(b, line, strlen(line));
	ab_buf_printf(b, " (id %s).\n", c->id);
}

/* "what is so" as a paragraph. */
static void add_sentence(struct ab_buf *b, const char *clause)
{
	size_t at = b->len + 1;

	ab_buf_printf(b, "\n%s.\n", clause);
	b->data[at] = (char)toupper((unsigned char)b->data[at]);
}

static void say_remedies(const struct ab_why_case *c, struct ab_buf *b)
{
	const char *advice = ab_why_advice(c);
	ab_autostrv struct ab_strv r = { 0 };
	size_t width = 0;

	ab_why_remedies(c, &r);
	for (size_t i = 0; i + 1 < r.len; i += 2)
		width = strlen(r.v[i]) > width ? strlen(r.v[i]) : width;
	ab_buf_puts(b, r.len ? "\nA person can\n" : "");
	for (size_t i = 0; i + 1 < r.len; i += 2)
		ab_buf_printf(b, "  %s:%*s  %s\n", r.v[i], (int)(width - strlen(r.v[i])), "",
			      r.v[i + 1]);
	if (advice)
		add_sentence(b, advice);
}

void ab_why_text(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_autobuf struct ab_buf command = { 0 };

	if (!c->denied)
		say_asked_only(c, b);
	else if (ab_json_is(c->denied, "kind", "exec"))
		say_program(c, b);
	else if (ab_why_is_file(c))
		say_file(c, b);
	else
		say_network(c, b);
	ab_buf_puts(b, "\n");
	say_when(c, b);
	say_who(c, b);
	say_rule(c, b);
	say_answer(c, b);
	say_question(c, b);
	ab_buf_puts(b, c->live ? "The run goes on: " : "The run has ended: ");
	ab_why_command(c, &command);
	add_short(b, command.data ? command.data : "", ARGV_MAX);
	ab_buf_puts(b, "\n");
	say_remedies(c, b);
}

void ab_why_refused(const struct ab_why_case *c, struct ab_buf *b)
{
	ab_autobuf struct ab_buf command = { 0 };
	char at[AB_LOCAL_ROOM];

	ab_why_command(c, &command);
	ab_buf_puts(b, "agentbox refused to run ");
	ab_buf_escape(b, command.data ? command.data : "");
	ab_buf_puts(b, ": ");
	add_clause(b, ab_json_text(c->start, "reason"));
	ab_buf_puts(b, " (rule ");
	ab_buf_escape(b, ab_json_text(c->start, "rule"));
	ab_buf_printf(b, ").\n\nNothing of it was started. That was at %s in ",
		      ab_time_local(c->first, at));
	ab_buf_escape(b, ab_json_text(c->start, "cwd"));
	ab_buf_puts(b, ".\n");
	say_remedies(c, b);
}
