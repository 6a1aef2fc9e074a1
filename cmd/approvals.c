#include "cmd.h"

#include <stdio.h>
#include <time.h>

static const struct option options_revoke[] = {
	{ "all", 0, OPT_FLAG, ID_ALL, NULL, NULL, "every remembered answer" },
	{ "session", 0, OPT_FLAG, ID_SESSION, NULL, NULL, "every answer of this session" },
	{ 0 },
};

/* "2027-01-31 12:00" in local time; 0: when the session ends. */
static const char *format_time(int64_t at, char buf[32])
{
	time_t t = (time_t)at;
	struct tm tm;

	if (at == 0 || !localtime_r(&t, &tm) || !strftime(buf, 32, "%Y-%m-%d %H:%M", &tm))
		return "this session";
	return buf;
}

static void print_list(const struct ab_approval_list *list)
{
	char created[32], expires[32];

	if (list->len == 0)
		puts("no remembered answers");
	else
		printf("%-8s %-8s %-17s %-17s %s\n", "ID", "ANSWER", "SINCE", "UNTIL",
		       "COMMAND, FOLDER, RULE");
	for (size_t i = 0; i < list->len; i++) {
		const struct ab_approval *a = &list->v[i];
		ab_autofree char *command = ab_escape(a->command);
		ab_autofree char *cwd = ab_escape(a->cwd);
		ab_autofree char *rule = ab_escape(a->rule);

		printf("%-8s %-8s %-17s %-17s %s\n%-53s in %s, rule %s\n", a->id,
		       a->deny ? "no" : "yes", format_time(a->created, created),
		       format_time(a->expires, expires), command, "", cwd, rule);
	}
}

static void add_time(struct ab_buf *b, const char *key, int64_t at)
{
	time_t t = (time_t)at;
	char text[32];
	struct tm tm;

	if (at == 0 || !gmtime_r(&t, &tm) ||
	    !strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%SZ\"", &tm))
		snprintf(text, sizeof(text), "null");
	ab_buf_printf(b, ",\"%s\":%s", key, text);
}

static void print_list_json(const struct ab_approval_list *list)
{
	ab_autobuf struct ab_buf b = { 0 };

	for (size_t i = 0; i < list->len; i++) {
		const struct ab_approval *a = &list->v[i];

		ab_buf_printf(&b,
			      "%s{\"id\":\"%s\",\"answer\":\"%s\","
			      "\"session\":%s,\"command\":",
			      i ? "," : "", a->id, a->deny ? "no" : "yes",
			      a->session ? "true" : "false");
		ab_buf_json(&b, a->command);
		ab_buf_puts(&b, ",\"cwd\":");
		ab_buf_json(&b, a->cwd);
		ab_buf_puts(&b, ",\"rule\":");
		ab_buf_json(&b, a->rule);
		add_time(&b, "created", a->created);
		add_time(&b, "expires", a->expires);
		ab_buf_puts(&b, "}");
	}
	printf("[%s]\n", b.data ? b.data : "");
}

static int list_main(struct args *args)
{
	struct ab_approval_list list;
	struct ab_session_key session;
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 0);

	if (status >= 0)
		return status;
	ab_session_of_caller(&session);
	if (ab_caller_init(&args->input, &err) < 0 ||
	    ab_approvals_list(&args->input, &session, &list, &err) < 0)
		return complain(args, &err);
	if (given(args, ID_JSON))
		print_list_json(&list);
	else
		print_list(&list);
	ab_approval_list_fini(&list);
	return 0;
}

static int revoke_group(struct args *args, const struct ab_session_key *session)
{
	enum ab_revoke where = given(args, ID_SESSION) ? AB_REVOKE_SESSION : AB_REVOKE_BOTH;
	struct ab_error err = { 0 };
	size_t n;

	if (ab_approvals_revoke(&args->input, session, where, NULL, &n, &err) < 0)
		return complain(args, &err);
	printf("%zu revoked\n", n);
	return 0;
}

static int revoke_ids(struct args *args, const struct ab_session_key *session)
{
	struct ab_error err = { 0 };
	int status = 0;

	for (size_t i = 0; i < args->nrest; i++) {
		size_t n;

		if (ab_approvals_revoke(&args->input, session, AB_REVOKE_BOTH, args->rest[i], &n,
					&err) < 0)
			return complain(args, &err);
		if (n == 0) {
			tell("no answer with id %s (see agentbox approvals list)", args->rest[i]);
			status = 1;
		} else {
			printf("%s revoked\n", args->rest[i]);
		}
	}
	return status;
}

static int revoke_main(struct args *args)
{
	bool all = given(args, ID_ALL), own = given(args, ID_SESSION);
	struct ab_session_key session;
	struct ab_error err = { 0 };

	if (all + own + (args->nrest > 0) != 1)
		return misuse(args->command, "usage: agentbox %s %s", args->command->name,
			      args->command->usage);
	ab_session_of_caller(&session);
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	return args->nrest ? revoke_ids(args, &session) : revoke_group(args, &session);
}

static const struct command command_list = {
	.name = "approvals list",
	.usage = "[--json]",
	.summary = "list the remembered answers",
	.more = "Lists the answers of this terminal session and those that are kept until they\n"
		"expire.",
	.groups = groups_json,
	.main = list_main,
};

static const struct command command_revoke = {
	.name = "approvals revoke",
	.usage = "ID... | --all | --session",
	.summary = "forget answers, so that agentbox asks again",
	.groups = OPTION_GROUPS({ NULL, options_revoke }),
	.main = revoke_main,
};

const struct command command_approvals = {
	.name = "approvals",
	.usage = "list|revoke",
	.summary = "list and revoke remembered approvals",
	.more = "`agentbox run` asks about a command whose effect would leave the box or destroy\n"
		"work. An answer for the session, or for always, applies to exactly that command\n"
		"in that folder under that policy.",
	.groups = groups_common,
	.subs =
		(const struct command *const[]){
			&command_list,
			&command_revoke,
			NULL,
		},
	.main = sub_main,
};
