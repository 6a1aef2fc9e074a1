#include "policy/read/source_read.h"

#include "policy/model/list_element.h"
#include "policy/model/secrets_config.h"

#define COMMAND_LIKE "use one like [\"pass\", \"show\", \"x\"]"

/* The members of one kind of source. */
static const struct {
	enum ab_source_member member;
	enum ab_secret_from from;
	const char *right;   /* it belongs to another kind */
	const char *missing; /* it must be there; NULL: it need not */
} sources[] = {
	{ AB_SOURCE_ENV, AB_FROM_ENV, "use \"from\": \"env\"", "use \"env\": \"NAME\"" },
	{ AB_SOURCE_FILE, AB_FROM_FILE, "use \"from\": \"file\"", "use \"file\": \"~/path\"" },
	{ AB_SOURCE_KEY, AB_FROM_FILE, "use \"from\": \"file\"", NULL },
	{ AB_SOURCE_COMMAND, AB_FROM_COMMAND, "use \"from\": \"command\"", COMMAND_LIKE },
};

static int take_argument(const struct ab_context *ctx, struct ab_strv *to, const char *text,
			 struct ab_complaint *why)
{
	if (!text[0] && to->len == 0)
		return ab_complaint_value(why, text, "is not a command", COMMAND_LIKE);
	return ab_list_add(ctx->arena, to, text);
}

static void read_path(struct ab_members *m, const char *otherwise, struct ab_secret *s)
{
	const char *text = ab_members_text(m, AB_SOURCE_FILE);

	if (!text && s->from == AB_FROM_FILE)
		text = otherwise;
	if (!text)
		return;
	s->file = ab_list_element_path(m->r->ctx, text, &m->why);
	if (!s->file)
		ab_members_refuse(m, AB_SOURCE_FILE);
}

static void read_env(struct ab_members *m, struct ab_secret *s)
{
	const char *text = ab_members_text(m, AB_SOURCE_ENV);

	if (!text)
		return;
	if (!ab_is_variable(text, strlen(text), "")) {
		ab_complaint_value(&m->why, text, "is not a valid variable name",
				   "use letters, digits and _");
		ab_members_refuse(m, AB_SOURCE_ENV);
	}
	s->env = text;
}

void ab_source_members_read(struct ab_members *m, const char *file, bool env_needed,
			    struct ab_secret *s)
{
	static const char *const words[] = { "env", "file", "command" };

	s->from = ab_members_word(m, AB_SOURCE_FROM, words, AB_COUNT(words),
				  "use env, file or command");
	for (size_t i = 0; i < AB_COUNT(sources); i++) {
		enum ab_source_member member = sources[i].member;
		bool optional = (member == AB_SOURCE_ENV && !env_needed) ||
				(member == AB_SOURCE_FILE && file);

		if (m->given[member] && sources[i].from != s->from)
			ab_members_complain(m, member, "does not belong to this kind of source",
					    sources[i].right);
		if (!m->given[member] && sources[i].from == s->from && sources[i].missing &&
		    !optional)
			ab_members_complain(m, member, "is missing", sources[i].missing);
	}
	read_env(m, s);
	read_path(m, file, s);
	s->key = ab_members_text(m, AB_SOURCE_KEY);
	ab_members_strings(m, AB_SOURCE_COMMAND, AB_SECRET_LIST, take_argument, &s->command,
			   COMMAND_LIKE);
	if (s->from != AB_FROM_ENV)
		s->env = NULL;
}
