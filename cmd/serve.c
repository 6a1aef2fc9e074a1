#include "cmd.h"

static const struct option options_serve[] = {
	VALUE("fd", 0, "N", "use this Unix socket, not stdin and stdout"),
	{ 0 },
};

/* The channel gets other numbers, so that nothing else can be read from it or written to it. */
static int take_streams(struct args *args, struct ab_serve_setup *setup, struct ab_error *err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setup->in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	setup->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (null < 0 || setup->in < 0 || setup->out < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0)
		return misuse(args, err, "standard input and output must be open");
	return 0;
}

/* The option that sets this key of the settings. */
static const char *find_setting(const char *key)
{
	for (const struct option *o = options_policy; o->name; o++)
		if (o->kind == OPT_SETTING && strcmp(o->key, key) == 0)
			return o->name;
	return NULL;
}

static int serve_main(struct args *args, struct ab_error *err)
{
	struct ab_serve_setup setup = { .build = build_id, .option_of = find_setting };

	if (given(args, "fd") && (args->nfds != 1 || fcntl(args->fds[0], F_GETFD) < 0))
		return misuse(args, err, "--fd %s: use the number of one open descriptor above 2",
			      value_of(args, "fd"));
	if (given(args, "fd"))
		setup.in = setup.out = args->fds[0];
	else if (take_streams(args, &setup, err) < 0)
		return -1;
	return ab_serve(&setup, err);
}

const struct command command_serve = {
	.name = "serve",
	.usage = "[--fd N]",
	.summary = "run commands in boxes for another program",
	.groups = OPTION_GROUPS({ "Channel", options_serve }),
	.bare = true,
	.main = serve_main,
};
