#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options_import[] = {
	{ "write", 0, OPT_FLAG, ID_WRITE, NULL, NULL,
	  "write them to the project's .agentbox.json" },
	{ "json", 0, OPT_FLAG, ID_JSON, NULL, NULL, "print JSON" },
	{ "workspace", 0, OPT_VALUE, ID_WORKSPACE, "DIR", NULL,
	  "project folder (default: current folder)" },
	{ 0 },
};

/* -1, or an exit status after an error message. "-" is standard input. */
static int read_text(const char *path, struct ab_buf *b)
{
	bool given_file = strcmp(path, "-") != 0;
	FILE *f = given_file ? fopen(path, "re") : stdin;
	char block[16384];
	size_t n;

	if (!f) {
		tell("%s: %s", path, strerror(errno));
		return 1;
	}
	while (b->len <= AB_IMPORT_MAX && (n = fread(block, 1, sizeof(block), f)) > 0)
		ab_buf_add(b, block, n);
	n = (size_t)ferror(f);
	if (given_file)
		fclose(f);
	if (n)
		tell("%s cannot be read", path);
	else if (b->len > AB_IMPORT_MAX)
		tell("%s is larger than 1 MiB", path);
	else
		return -1;
	return 1;
}

static void print_json(const struct ab_import *import, const char *written)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_buf_printf(&b, "{\"settings\":%s,\"left\":", import->settings);
	ab_buf_json_list(&b, &import->left);
	ab_buf_puts(&b, ",\"written\":");
	if (written)
		ab_buf_json(&b, written);
	else
		ab_buf_puts(&b, "null");
	/* The settings have line breaks; the answer is one line. */
	for (size_t i = 0; i < b.len; i++)
		if (b.data[i] == '\n')
			b.data[i] = ' ';
	printf("%s}\n", b.data);
}

static int print_import(struct args *args, const char *name, const struct ab_import *import)
{
	ab_autofree char *path = NULL;
	struct ab_error err = { 0 };

	if (ab_policy_check_text(&args->input, name, import->settings, strlen(import->settings),
				 &err) < 0)
		return complain(args, &err);
	if (given(args, ID_WRITE) &&
	    ab_init_create(&args->input, import->settings, &path, &err) < 0)
		return complain(args, &err);
	if (given(args, ID_JSON)) {
		print_json(import, path);
		return 0;
	}
	fputs(import->settings, stdout);
	fflush(stdout);
	for (size_t i = 0; i < import->left.len; i++)
		tell("not carried over: %s", import->left.v[i]);
	if (path)
		tell("%s is written; to review and trust it: agentbox trust", path);
	return 0;
}

static int import_main(struct args *args)
{
	ab_autobuf struct ab_buf text = { 0 };
	struct ab_error err = { 0 };
	struct ab_import import;
	int status = check_words(args, 2, 2);

	if (status >= 0)
		return status;
	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	status = read_text(args->rest[1], &text);
	if (status >= 0)
		return status;
	if (ab_import_read(args->rest[0], args->rest[1], text.data ? text.data : "", text.len,
			   &import, &err) < 0)
		return complain(args, &err);
	status = print_import(args, args->rest[1], &import);
	ab_import_fini(&import);
	return status;
}

const struct command command_import = {
	.name = "import",
	.usage = "[OPTIONS] FORMAT FILE",
	.summary = "read settings of srt, Claude Code, Codex or nono",
	.more = "FORMAT is srt, claude-code, codex or nono. Prints the hosts, paths and rules of\n"
		"FILE as settings of agentbox, and says on standard error, line by line, what\n"
		"could not be carried over. FILE - is standard input.",
	.groups = OPTION_GROUPS({ NULL, options_import }),
	.main = import_main,
};
