#include "cmd.h"

#include <stdio.h>
#include <unistd.h>

static const struct option options_trust[] = {
	{ "yes", 'y', OPT_FLAG, ID_YES, NULL, NULL, "trust it without asking" },
	{ "revoke", 0, OPT_FLAG, ID_REVOKE, NULL, NULL, "trust it no longer" },
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
	       r->state == AB_TRUST_CHANGED ? "is not what was trusted; it changed by:"
					    : "was never trusted; it says:");
	print_lines("", &r->diff);
	printf("\n");
	if (!r->widens.len)
		printf("With it, nothing more is allowed than without it.\n");
	print_lines("Allowed only with it:", &r->widens);
	print_lines("Allowed only without it:", &r->tightens);
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
		     "what is shown above: agentbox trust --yes%s%s",
		     args->nrest ? " " : "", args->nrest ? args->rest[0] : "");
		return 1;
	}
	if (confirm("Trust exactly this content?"))
		return 0;
	tell("not trusted; it can still make the box tighter");
	return 1;
}

static int trust(const struct args *args, const struct ab_trust_review *r)
{
	ab_autofree char *path = ab_escape(r->path);
	struct ab_error err = { 0 };
	int status;

	if (r->state == AB_TRUST_HOLDS) {
		printf("%s is trusted already\n", path);
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

static int forget(const struct args *args, const char *file)
{
	struct ab_error err = { 0 };
	bool had;

	if (ab_trust_revoke(&args->input, file, &had, &err) < 0)
		return complain(args, &err);
	puts(had ? "it is not trusted any more" : "it was not trusted");
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
		return misuse(args->command, "--yes and --revoke exclude each other");
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	if (given(args, ID_REVOKE))
		return forget(args, file);
	if (ab_trust_review(&args->input, file, &review, &err) < 0)
		return complain(args, &err);
	status = trust(args, &review);
	ab_trust_review_fini(&review);
	return status;
}

const struct command command_trust = {
	.name = "trust",
	.usage = "[OPTIONS] [FILE]",
	.summary = "let a project's .agentbox.json widen the policy",
	.more = "Shows what the file says, or what changed since it was "
		"trusted, and what it\nwould allow; then asks. FILE is "
		".agentbox.json here unless given. Until then\nsuch a file can "
		"only make the box tighter; one changed byte ends the trust.",
	.groups =
		(const struct option_group[]){
			{ NULL, options_trust },
			{ NULL, options_common },
			{ 0 },
		},
	.main = trust_main,
};
