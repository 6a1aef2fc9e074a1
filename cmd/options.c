#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every layer of the configuration can say, as flags. */
const struct option options_policy[] = {
	{ "profile", 0, OPT_VALUE, ID_PROFILE, "NAME", NULL,
	  "start from this profile (profile list)" },
	{ "config", 0, OPT_VALUE, ID_CONFIG, "FILE", NULL, "read this file instead of the user's" },
	{ "workspace", 0, OPT_VALUE, ID_WORKSPACE, "DIR", NULL,
	  "the project folder, else the current one" },
	{ "write", 0, OPT_SETTING, ID_NONE, "PATH", "filesystem.write",
	  "let the command write here too" },
	{ "read-only", 0, OPT_CLEAR, ID_NONE, NULL, "filesystem.write",
	  "no writable folder but the private ones" },
	{ "deny-read", 0, OPT_SETTING, ID_NONE, "PATH", "filesystem.denyRead",
	  "hide this path or pattern" },
	{ "deny-write", 0, OPT_SETTING, ID_NONE, "PATH", "filesystem.denyWrite",
	  "protect this path, or this name" },
	{ "home", 0, OPT_SETTING, ID_NONE, "readonly|private", "filesystem.home",
	  "the home folder as it is, or an empty one" },
	{ "allow-unix", 0, OPT_SETTING, ID_NONE, "PATH", "filesystem.unix",
	  "keep this socket of the host reachable" },
	{ "net", 0, OPT_SETTING, ID_NONE, "blocked|filtered|allowed", "network.mode",
	  "nothing, listed hosts, the host's network" },
	{ "allow", 0, OPT_SETTING, ID_NONE, "HOST[:PORT]|@GROUP", "network.allow",
	  "a host that may be reached when filtered" },
	{ "deny", 0, OPT_SETTING, ID_NONE, "HOST[:PORT]", "network.deny", "a host that may not" },
	{ "unknown", 0, OPT_SETTING, ID_NONE, "ask|deny", "network.unknown",
	  "what happens to other hosts" },
	{ "allow-private", 0, OPT_SETTING, ID_NONE, "CIDR[:PORT]", "network.allowPrivate",
	  "private addresses that are not refused" },
	{ "host-port", 0, OPT_SETTING, ID_NONE, "PORT", "network.hostPorts",
	  "reach this port of the host at localhost" },
	{ "publish", 0, OPT_SETTING, ID_NONE, "[HOSTPORT:]PORT", "network.publish",
	  "let the host reach this port of the box" },
	{ "upstream", 0, OPT_SETTING, ID_NONE, "none|env|URL", "network.upstream",
	  "the proxy that the way out goes through" },
	{ "secret", 0, OPT_SETTING, ID_NONE, "NAME[@HOST]", "secrets",
	  "show a placeholder inside, send the value" },
	{ "env", 0, OPT_SETTING, ID_NONE, "K=V", "env.set", "set a variable inside" },
	{ "pass-env", 0, OPT_SETTING, ID_NONE, "NAME", "env.pass",
	  "keep a variable that would be stripped" },
	{ "timeout", 0, OPT_SETTING, ID_NONE, "DURATION", "limits.timeout",
	  "end the command after this time (90s, 10m)" },
	{ "memory", 0, OPT_SETTING, ID_NONE, "SIZE", "limits.memory", "limit memory (512M, 4G)" },
	{ "processes", 0, OPT_SETTING, ID_NONE, "N", "limits.processes",
	  "limit the number of processes" },
	{ "files", 0, OPT_SETTING, ID_NONE, "N", "limits.files",
	  "limit open files of one process" },
	{ "require", 0, OPT_SETTING, ID_NONE, "PROPERTY[,PROPERTY]", "assurance.require",
	  "do not start unless this holds" },
	{ "fallback", 0, OPT_SETTING, ID_NONE, "strict|warn", "assurance.fallback",
	  "when something required does not hold" },
	{ 0 },
};

/* Those of the policy's options that say which files are meant. */
const struct option options_files[] = {
	{ "config", 0, OPT_VALUE, ID_CONFIG, "FILE", NULL, "this file instead of the user's" },
	{ "workspace", 0, OPT_VALUE, ID_WORKSPACE, "DIR", NULL,
	  "the project folder, else the current one" },
	{ 0 },
};

const struct option options_json[] = {
	{ "json", 0, OPT_FLAG, ID_JSON, NULL, NULL, "print JSON" },
	{ 0 },
};

const struct option options_common[] = {
	{ "help", 'h', OPT_FLAG, ID_HELP, NULL, NULL, "show this" },
	{ 0 },
};

static const struct option *find(const struct command *command, const char *name, size_t len,
				 char letter)
{
	const struct option_group *g = command->groups;

	for (; g->v; g++)
		for (const struct option *o = g->v; o->name; o++)
			if (letter ? o->letter == letter
				   : strlen(o->name) == len && strncmp(o->name, name, len) == 0)
				return o;
	return NULL;
}

static int no_such_option(const struct command *command, const char *name, size_t len)
{
	const char *names[64];
	char wanted[64];
	const char *near;
	size_t n = 0;

	for (const struct option_group *g = command->groups; g->v; g++)
		for (const struct option *o = g->v; o->name && n < 64; o++)
			names[n++] = o->name;
	snprintf(wanted, sizeof(wanted), "%.*s", (int)len, name);
	near = ab_guess(wanted, names, n);
	return near ? misuse(command, "no option --%s; did you mean --%s?", wanted, near)
		    : misuse(command, "no option --%s", wanted);
}

static void set(struct args *args, const struct option *o, const char *value)
{
	char *origin;

	if (asprintf(&origin, "--%s", o->name) < 0)
		abort();
	args->settings[args->input.nsettings++] =
		(struct ab_setting){ .key = o->key, .value = value, .origin = origin };
}

static int add_fd(struct args *args, const char *value)
{
	char *end;
	long fd = strtol(value, &end, 10);

	if (end == value || *end || fd < 0 || fd > 1 << 20)
		return misuse(args->command, "--fd %s is not a descriptor; write a number", value);
	if (fd > 2)
		args->fds[args->nfds++] = (int)fd;
	return -1;
}

static int take(struct args *args, const struct option *o, const char *value)
{
	switch (o->kind) {
	case OPT_SETTING:
		set(args, o, value);
		return -1;
	case OPT_CLEAR:
		set(args, o, NULL);
		return -1;
	case OPT_VALUE:
	case OPT_FLAG:
		break;
	}
	args->values[o->id] = value ? value : "";
	args->counts[o->id]++;
	return o->id == ID_FD ? add_fd(args, value) : -1;
}

bool given(const struct args *args, enum option_id id)
{
	return args->counts[id] > 0;
}

/* One word that starts with "--"; *i moves on when the value is the next. */
static int take_long(struct args *args, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 2;
	size_t len = strcspn(name, "=");
	const struct option *o = find(args->command, name, len, 0);
	const char *value = name[len] ? name + len + 1 : NULL;

	if (!o)
		return no_such_option(args->command, name, len);
	if (!o->value && value)
		return misuse(args->command, "--%s takes no value", o->name);
	if (o->value && !value && ++*i == argc)
		return misuse(args->command, "--%s needs a value: --%s %s", o->name, o->name,
			      o->value);
	return take(args, o, o->value && !value ? argv[*i] : value);
}

/* "-v", "-vv", "-c STRING", "-cSTRING". */
static int take_letters(struct args *args, int argc, char **argv, int *i)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct option *o = find(args->command, NULL, 0, *p);
		int status;

		if (!o)
			return misuse(args->command, "no option -%c", *p);
		if (o->value) {
			const char *value = p[1] ? p + 1 : NULL;

			if (!value && ++*i == argc)
				return misuse(args->command, "-%c needs a value: -%c %s", *p, *p,
					      o->value);
			return take(args, o, value ? value : argv[*i]);
		}
		status = take(args, o, NULL);
		if (status >= 0)
			return status;
	}
	return -1;
}

int args_parse(struct args *args, const struct command *command, int argc, char **argv)
{
	bool anywhere = !command->runs && !command->subs;
	size_t room = (size_t)argc + 1;
	const char **rest;
	int i, status = -1;

	args->command = command;
	args->settings = calloc(room, sizeof(args->settings[0]));
	args->fds = calloc(room, sizeof(args->fds[0]));
	rest = calloc(room, sizeof(rest[0]));
	if (!args->settings || !args->fds || !rest)
		abort();
	for (i = 0; i < argc; i++) {
		if (argv[i][0] != '-' || !argv[i][1]) {
			if (!anywhere)
				break;
			rest[args->nrest++] = argv[i];
			continue;
		}
		if (strcmp(argv[i], "--") == 0) {
			i++;
			args->dashes = true;
			break;
		}
		status = argv[i][1] == '-' ? take_long(args, argc, argv, &i)
					   : take_letters(args, argc, argv, &i);
		if (status >= 0)
			return status;
		if (given(args, ID_HELP)) {
			print_help(command);
			return 0;
		}
	}
	args->before = args->nrest;
	for (; i < argc; i++)
		rest[args->nrest++] = argv[i];
	args->rest = rest;
	args->input.settings = args->settings;
	args->input.profile = args->values[ID_PROFILE];
	args->input.config = args->values[ID_CONFIG];
	args->input.workspace = args->values[ID_WORKSPACE];
	return -1;
}
