#include "cmd.h"

static const struct option options_import[] = {
	FLAG("write", 0, "write them to the project's .agentbox.json"),
	FLAG("json", 0, "print JSON"),
	VALUE("workspace", 0, "DIR", "project folder (default: current folder)"),
	{ 0 },
};

/* -1, or an exit status after an error message. "-" is standard input. */
static int read_text(const char *path, struct ab_buf *b)
{
	bool given_file = strcmp(path, "-") != 0;
	FILE *f = given_file ? fopen(path, "re") : stdin;
	int result;

	if (!f) {
		tell("%s: %s", path, strerror(errno));
		return 1;
	}
	result = read_input(f, AB_IMPORT_MAX, b);
	if (given_file)
		fclose(f);
	if (result < 0)
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

	ab_buf_jsonf(&b, "{'settings':%-s,'left':%p,'written':%s", import->settings,
		     ab_list(&import->left), written);
	/* The settings have line breaks; the answer is one line. */
	for (size_t i = 0; i < b.len; i++)
		if (b.data[i] == '\n')
			b.data[i] = ' ';
	printf("%s}\n", b.data);
}

static int print_import(struct args *args, const char *name, const struct ab_import *import,
			struct ab_error *err)
{
	ab_autofree char *path = NULL;

	if (ab_policy_check_text(&args->input, name, import->settings, strlen(import->settings),
				 err) < 0)
		return -1;
	if (given(args, "write") && ab_init_create(&args->input, import->settings, &path, err) < 0)
		return -1;
	if (given(args, "json")) {
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

static int import_main(struct args *args, struct ab_error *err)
{
	ab_autobuf struct ab_buf text = { 0 };
	ab_auto(ab_import_fini) struct ab_import import = { 0 };
	int status = read_text(args->rest[1], &text);

	if (status >= 0)
		return status;
	if (ab_import_read(args->rest[0], args->rest[1], text.data ? text.data : "", text.len,
			   &import, err) < 0)
		return -1;
	return print_import(args, args->rest[1], &import, err);
}

const struct command command_import = {
	.name = "import",
	.usage = "[OPTIONS] FORMAT FILE",
	.summary = "read settings of srt, Claude Code, Codex or nono",
	.groups = OPTION_GROUPS({ NULL, options_import }),
	.words = { 2, 2 },
	.main = import_main,
};
