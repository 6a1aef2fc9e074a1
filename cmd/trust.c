#include "cmd.h"

#include <stdio.h>
#include <unistd.h>

static const struct option options_trust[] = {
	{ "yes", 'y', OPT_FLAG, ID_YES, NULL, NULL, "trust it without asking" },
	{ "json", 0, OPT_FLAG, ID_JSON, NULL, NULL, "print JSON, and do not ask" },
	{ "revoke", 0, OPT_FLAG, ID_REVOKE, NULL, NULL, "no longer trust it" },
	{ 0 },
};

static void print_lines(const char *title, const struct ab_strv *lines)
{
	if (!lines->len)
		return;
	printf("%s\n", title);
	for (size_t i = 0; i < lines->len; i++)
		printf("  %s\n", lines->v[i]);
}

/* The lines of a review are safe to print as they are. */
static void print_review(const struct ab_trust_review *r, const char *path)
{
	printf("%s %s\n", path,
	       r->state == AB_TRUST_CHANGED ? "has changed since you trusted it:"
					    : "is not trusted yet; it contains:");
	print_lines("", &r->diff);
	printf("\n");
	if (!r->widens.len)
		printf("It does not allow anything more.\n");
	print_lines("Allowed only with this file:", &r->widens);
	print_lines("Allowed only without this file:", &r->tightens);
	printf("\n");
}

/* 0 when the content may be recorded, else the exit status. */
static int get_consent(const struct args *args)
{
	if (given(args, ID_YES))
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fflush(stdout);
		tell("not trusted: there is no terminal to ask on; to trust "
		     "this content: agentbox trust --yes%s%s",
		     args->nrest ? " " : "", args->nrest ? args->rest[0] : "");
		return 1;
	}
	if (confirm("Trust exactly this content?"))
		return 0;
	tell("not trusted; the file can still tighten the box");
	return 1;
}

/* What a script needs to ask a person itself, and then --yes. */
static int trust_json(const struct args *args, const struct ab_trust_review *r)
{
	ab_autobuf struct ab_buf b = { 0 };
	struct ab_error err = { 0 };
	bool trusted = r->state == AB_TRUST_HOLDS;

	if (!trusted && given(args, ID_YES)) {
		if (ab_trust_record(&args->input, r, &err) < 0)
			return complain(args, &err);
		trusted = true;
	}
	ab_buf_puts(&b, "{\"file\":");
	ab_buf_json(&b, r->path);
	ab_buf_printf(&b, ",\"trusted\":%s,\"changed\":%s,\"diff\":", trusted ? "true" : "false",
		      r->state == AB_TRUST_CHANGED ? "true" : "false");
	ab_buf_json_list(&b, &r->diff);
	ab_buf_puts(&b, ",\"widens\":");
	ab_buf_json_list(&b, &r->widens);
	ab_buf_puts(&b, ",\"tightens\":");
	ab_buf_json_list(&b, &r->tightens);
	printf("%s}\n", b.data);
	return trusted ? 0 : 1;
}

static int trust_file(const struct args *args, const struct ab_trust_review *r)
{
	ab_autofree char *path = ab_escape(r->path);
	struct ab_error err = { 0 };
	int status;

	if (r->state == AB_TRUST_HOLDS) {
		printf("%s is already trusted\n", path);
		return 0;
	}
	print_review(r, path);
	status = get_consent(args);
	if (status)
		return status;
	if (ab_trust_record(&args->input, r, &err) < 0)
		return complain(args, &err);
	printf("%s is trusted until it changes\n", path);
	return 0;
}

static int revoke_trust(const struct args *args, const char *file)
{
	struct ab_error err = { 0 };
	bool had;

	if (ab_trust_revoke(&args->input, file, &had, &err) < 0)
		return complain(args, &err);
	if (given(args, ID_JSON))
		printf("{\"trusted\":false,\"revoked\":%s}\n", had ? "true" : "false");
	else
		puts(had ? "no longer trusted" : "it was not trusted");
	return 0;
}

static int trust_main(struct args *args)
{
	const char *file = args->nrest ? args->rest[0] : NULL;
	struct ab_trust_review review;
	struct ab_error err = { 0 };
	int status = check_words(args, 0, 1);

	if (status >= 0)
		return status;
	if (given(args, ID_YES) && given(args, ID_REVOKE))
		return misuse(args->command, "--yes cannot be combined with --revoke");
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	if (given(args, ID_REVOKE))
		return revoke_trust(args, file);
	if (ab_trust_review(&args->input, file, &review, &err) < 0)
		return complain(args, &err);
	status = given(args, ID_JSON) ? trust_json(args, &review) : trust_file(args, &review);
	ab_trust_review_fini(&review);
	return status;
}

const struct command command_trust = {
	.name = "trust",
	.usage = "[OPTIONS] [FILE]",
	.summary = "let a project's .agentbox.json widen the policy",
	.more = "Shows the file, or what changed since you trusted it, and what it would allow;\n"
		"then asks. FILE defaults to .agentbox.json in the current directory. Until you\n"
		"trust it, the file can only tighten the box. Any change to it ends the trust.",
	.groups = OPTION_GROUPS({ NULL, options_trust }),
	.main = trust_main,
};
