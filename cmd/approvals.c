#include "cmd.h"

static const struct option options_revoke[] = {
	FLAG("all", 0, "every remembered answer"),
	FLAG("session", 0, "every answer of this session"),
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

static const char *format_utc(int64_t at, char ret[32])
{
	time_t t = (time_t)at;
	struct tm tm;

	return at && gmtime_r(&t, &tm) && strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) ? ret : NULL;
}

static void print_list_json(const struct ab_approval_list *list)
{
	ab_autobuf struct ab_buf b = { 0 };
	char created[32], expires[32];

	ab_buf_jsonf(&b, "[");
	for (size_t i = 0; i < list->len; i++) {
		const struct ab_approval *a = &list->v[i];

		ab_buf_jsonf(&b,
			     ",{'id':%s,'answer':%s,'session':%hhd,'command':%s,'cwd':%s,"
			     "'rule':%s,'created':%s,'expires':%s}",
			     a->id, a->deny ? "no" : "yes", a->session, a->command, a->cwd, a->rule,
			     format_utc(a->created, created), format_utc(a->expires, expires));
	}
	printf("%s]\n", b.data);
}

static int list_main(struct args *args, struct ab_error *err)
{
	ab_auto(ab_approval_list_fini) struct ab_approval_list list = { 0 };
	struct ab_session_key session;

	ab_session_of_caller(&session);
	if (ab_approvals_list(&args->input, &session, &list, err) < 0)
		return -1;
	if (given(args, "json"))
		print_list_json(&list);
	else
		print_list(&list);
	return 0;
}

static int revoke_group(struct args *args, const struct ab_session_key *session,
			struct ab_error *err)
{
	enum ab_revoke where = given(args, "session") ? AB_REVOKE_SESSION : AB_REVOKE_BOTH;
	size_t n;

	if (ab_approvals_revoke(&args->input, session, where, NULL, &n, err) < 0)
		return -1;
	printf("%zu revoked\n", n);
	return 0;
}

static int revoke_ids(struct args *args, const struct ab_session_key *session, struct ab_error *err)
{
	int status = 0;

	for (size_t i = 0; i < args->nrest; i++) {
		size_t n;

		if (ab_approvals_revoke(&args->input, session, AB_REVOKE_BOTH, args->rest[i], &n,
					err) < 0)
			return -1;
		if (n == 0) {
			tell("no answer with id %s (see agentbox approvals list)", args->rest[i]);
			status = 1;
		} else {
			printf("%s revoked\n", args->rest[i]);
		}
	}
	return status;
}

static int revoke_main(struct args *args, struct ab_error *err)
{
	bool all = given(args, "all"), own = given(args, "session");
	struct ab_session_key session;

	if (all + own + (args->nrest > 0) != 1)
		return misuse(args, err, "usage: agentbox %s %s", args->command->name,
			      args->command->usage);
	ab_session_of_caller(&session);
	return args->nrest ? revoke_ids(args, &session, err) : revoke_group(args, &session, err);
}

static const struct command subs[] = {
	{ "approvals list", "[--json]", "list the remembered answers", groups_json,
	  .main = list_main },
	{ "approvals revoke", "ID... | --all | --session",
	  "forget answers, so that agentbox asks again", OPTION_GROUPS({ NULL, options_revoke }),
	  .words = { 0, SIZE_MAX }, .main = revoke_main },
	{ 0 },
};

/* `approvals` alone is `approvals list`. */
const struct command command_approvals = {
	.name = "approvals",
	.usage = "[list] | revoke ID...",
	.summary = "list and revoke remembered approvals",
	.groups = groups_json,
	.subs = subs,
	.main = list_main,
};
