#include "cmd.h"

/* The settings that every policy layer can have, as options. */
const struct option options_policy[] = {
	VALUE("profile", 0, "NAME", "start from this profile (profile list)"),
	VALUE("config", 0, "FILE", "read this file instead of your settings"),
	VALUE("workspace", 0, "DIR", "project folder (default: current folder)"),
	SETTING("with", "PRESET[,...]", "with", "allow what a language's tools need (node)"),
	SETTING("write", "PATH", "filesystem.write", "also make this path writable"),
	{ "read-only", 0, OPT_READONLY, NULL, NULL, "nothing is writable except private folders" },
	{ "read", 0, OPT_OPEN, "PATH", "filesystem.denyRead",
	  "show this path, which is hidden by default" },
	SETTING("deny-read", "PATH", "filesystem.denyRead", "hide this path or pattern"),
	SETTING("deny-write", "PATH", "filesystem.denyWrite", "protect this path or file name"),
	SETTING("home", "layered|kept|readonly|private", "filesystem.home",
		"where writes in your home folder go"),
	{ "review", 0, OPT_SWITCH, "[=auto]", "filesystem.review",
	  "keep changes apart until you apply them" },
	SETTING("allow-unix", "PATH", "filesystem.unix", "keep this host socket reachable"),
	SETTING("docker", "IMAGE", "docker.images", "let it start containers of this image"),
	{ "allow-userns", 0, OPT_ALLOW, NULL, "userNamespaces",
	  "let a browser's own sandbox work (user-ns)" },
	SETTING("net", "blocked|filtered|allowed", "network.mode",
		"no network, listed hosts, or the host's"),
	SETTING("allow", "HOST[:PORT]|@GROUP", "network.allow",
		"allow this host (filtered network)"),
	SETTING("deny", "HOST[:PORT]", "network.deny", "deny this host"),
	SETTING("unknown", "ask|deny", "network.unknown", "ask about other hosts, or deny them"),
	SETTING("allow-private", "CIDR[:PORT]", "network.allowPrivate",
		"allow this private address range"),
	SETTING("host-port", "PORT", "network.hostPorts", "reach this host port at localhost"),
	SETTING("publish", "[HOSTPORT:]PORT", "network.publish",
		"expose this port on the host's localhost"),
	SETTING("upstream", "none|env|URL", "network.upstream",
		"send outgoing traffic through this proxy"),
	SETTING("secret", "NAME[@HOST]", "secrets", "inject this secret; hide it from the box"),
	SETTING("ssh", "HOST[:PORT]", "ssh.hosts", "let it log in there with your agent's keys"),
	SETTING("env", "K=V", "env.set", "set a variable in the box"),
	SETTING("pass-env", "NAME[=VARIABLE]", "env.pass", "keep a variable that would be removed"),
	SETTING("timeout", "DURATION", "limits.timeout", "time limit for the command (90s, 10m)"),
	SETTING("memory", "SIZE", "limits.memory", "limit memory (512M, 4G)"),
	SETTING("processes", "N", "limits.processes", "limit the number of processes"),
	SETTING("files", "N", "limits.files", "limit open files per process"),
	SETTING("require", "GUARANTEE[,...]", "assurance.require",
		"refuse to start without this guarantee"),
	SETTING("fallback", "strict|warn", "assurance.fallback",
		"if a guarantee is missing: stop, or warn"),
	{ "engine", 0, OPT_SETTING, "auto|full|shared-proc|no-namespaces", "assurance.engine",
	  "what the box is built of" },
	SETTING("terminal", "filtered|raw", "terminal", "what output reaches your terminal"),
	{ 0 },
};

const struct option options_profile[] = {
	VALUE("profile", 0, "NAME", "start from this profile (profile list)"),
	{ 0 },
};

/* The policy options that choose which settings files are read. */
const struct option options_files[] = {
	VALUE("config", 0, "FILE", "read this file instead of your settings"),
	VALUE("workspace", 0, "DIR", "project folder (default: current folder)"),
	{ 0 },
};

const struct option options_json[] = {
	FLAG("json", 0, "print JSON"),
	{ 0 },
};

const struct option options_common[] = {
	{ "help", 'h', OPT_HELP, "[=all]", NULL, "show this help, or every option" },
	{ 0 },
};

const struct option_group groups_common[] = { { NULL, options_common }, { 0 } };
const struct option_group groups_json[] = { { NULL, options_json },
					    { NULL, options_common },
					    { 0 } };

const struct option *find_option(const struct command *command, const char *name, size_t len,
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

/* What another program calls this, as far as this command has it. */
static int report_habit(const struct args *args, const char *typed, const struct habit *habit,
			struct ab_error *err)
{
	const struct command *command = args->command;
	const struct option *o = find_option(command, habit->option, strlen(habit->option), 0);

	if (habit->note[0] && (o || (!habit->option[0] && command->runs)))
		return misuse(args, err, "unknown option %s; %s", typed, habit->note);
	if (o)
		return misuse(args, err, "unknown option %s; did you mean --%s%s%s?", typed,
			      o->name, o->value && strncmp(o->value, "[=", 2) != 0 ? " " : "",
			      o->value ? o->value : "");
	return misuse(args, err, "unknown option %s", typed);
}

static int report_unknown_option(const struct args *args, const char *name, size_t len,
				 struct ab_error *err)
{
	const char *names[96];
	char typed[66];
	const char *near;
	struct habit habit;
	size_t n = 0;

	for (const struct option_group *g = args->command->groups; g->v; g++)
		for (const struct option *o = g->v; o->name && n < 96; o++)
			names[n++] = o->name;
	snprintf(typed, sizeof(typed), "--%.*s", (int)len, name);
	if (habit_option(typed + 2, 0, &habit))
		return report_habit(args, typed, &habit, err);
	near = ab_guess(typed + 2, names, n);
	return near ? misuse(args, err, "unknown option %s; did you mean --%s?", typed, near)
		    : misuse(args, err, "unknown option %s", typed);
}

static int report_unknown_letter(const struct args *args, char letter, struct ab_error *err)
{
	const char typed[] = { '-', letter, '\0' };
	struct habit habit;

	if (habit_option(NULL, letter, &habit))
		return report_habit(args, typed, &habit, err);
	return misuse(args, err, "unknown option %s", typed);
}

static void add_setting(struct args *args, const char *name, const char *key, const char *value)
{
	*ab_append(args->settings, args->input.nsettings) = (struct ab_setting){
		.key = key, .value = value, .origin = ab_printf("--%s", name)
	};
}

static int add_fd(struct args *args, const char *value, struct ab_error *err)
{
	char *end;
	long fd = strtol(value, &end, 10);

	if (end == value || *end || fd < 0 || fd > 1 << 20)
		return misuse(args, err, "--fd: invalid value \"%s\"; use a file descriptor number",
			      value);
	if (fd > 2)
		*ab_append(args->fds, args->nfds) = (int)fd;
	return 0;
}

static int take_option(struct args *args, const struct option *o, const char *value,
		       struct ab_error *err)
{
	switch (o->kind) {
	case OPT_READONLY:
		add_setting(args, o->name, "filesystem.write", NULL);
		add_setting(args, "home", "filesystem.home", "readonly");
		return 0;
	case OPT_VALUE:
	case OPT_FLAG:
	case OPT_HELP:
		*ab_append(args->given, args->ngiven) =
			(struct given_option){ o, value ? value : "" };
		return strcmp(o->name, "fd") == 0 ? add_fd(args, value, err) : 0;
	case OPT_OPEN:
		value = ab_printf("!%s", value);
		break;
	case OPT_SWITCH:
		value = value ? value : "true";
		break;
	case OPT_ALLOW:
		value = "allow";
		break;
	case OPT_SETTING:
		break;
	}
	add_setting(args, o->name, o->key, value);
	return 0;
}

int count_given(const struct args *args, const char *name)
{
	int n = 0;

	for (size_t i = 0; i < args->ngiven; i++)
		n += strcmp(args->given[i].option->name, name) == 0;
	return n;
}

bool given(const struct args *args, const char *name)
{
	return value_of(args, name) != NULL;
}

const char *value_of(const struct args *args, const char *name)
{
	for (size_t i = args->ngiven; i-- > 0;)
		if (strcmp(args->given[i].option->name, name) == 0)
			return args->given[i].value;
	return NULL;
}

/* "--" ends the options; it is never a value, except behind "=". */
static bool has_value(int argc, char **argv, int i)
{
	return i < argc && strcmp(argv[i], "--") != 0;
}

/* One argument that starts with "--"; *i advances if its value is the next one. */
static int take_long(struct args *args, int argc, char **argv, int *i, struct ab_error *err)
{
	const char *name = argv[*i] + 2;
	size_t len = strcspn(name, "=");
	const struct option *o = find_option(args->command, name, len, 0);
	const char *value = name[len] ? name + len + 1 : NULL;

	/* Every command has it. */
	if (!o && len == strlen("color") && strncmp(name, "color", len) == 0) {
		if (!value && has_value(argc, argv, *i + 1))
			value = argv[++*i];
		return value && set_colour(value)
			       ? 0
			       : misuse(args, err,
					"--color: invalid value \"%s\"; use auto, always or never",
					value ? value : "");
	}
	if (!o)
		return report_unknown_option(args, name, len, err);
	if (!o->value && value)
		return misuse(args, err, "--%s takes no value", o->name);
	if (o->kind == OPT_HELP && value && strcmp(value, "all") != 0)
		return misuse(args, err, "--%s: invalid value \"%s\"; use --%s or --%s=all",
			      o->name, value, o->name, o->name);
	if (o->kind == OPT_SWITCH || o->kind == OPT_HELP)
		return take_option(args, o, value, err);
	if (o->value && !value && !has_value(argc, argv, ++*i))
		return misuse(args, err, "--%s needs a value: --%s %s", o->name, o->name, o->value);
	return take_option(args, o, o->value && !value ? argv[*i] : value, err);
}

/* "-v", "-vv", "-c STRING", "-cSTRING". */
static int take_letters(struct args *args, int argc, char **argv, int *i, struct ab_error *err)
{
	for (const char *p = argv[*i] + 1; *p; p++) {
		const struct option *o = find_option(args->command, NULL, 0, *p);

		if (!o)
			return report_unknown_letter(args, *p, err);
		if (o->value && o->kind != OPT_HELP) {
			const char *value = p[1] ? p + 1 : NULL;

			if (!value && !has_value(argc, argv, ++*i))
				return misuse(args, err, "-%c needs a value: -%c %s", *p, *p,
					      o->value);
			return take_option(args, o, value ? value : argv[*i], err);
		}
		if (take_option(args, o, NULL, err) < 0)
			return -1;
	}
	return 0;
}

int args_parse(struct args *args, const struct command *command, int argc, char **argv,
	       struct ab_error *err)
{
	bool anywhere = !command->runs && !command->subs;
	const char **rest = ab_alloc(((size_t)argc + 1) * sizeof(rest[0]));
	int i;

	args->command = command;
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
		if ((argv[i][1] == '-' ? take_long : take_letters)(args, argc, argv, &i, err) < 0)
			return -1;
		if (given(args, "help")) {
			print_help(command, value_of(args, "help")[0] != '\0');
			return 1;
		}
	}
	args->before = args->nrest;
	for (; i < argc; i++)
		rest[args->nrest++] = argv[i];
	args->rest = rest;
	args->input.settings = args->settings;
	args->input.profile = value_of(args, "profile");
	args->input.config = value_of(args, "config");
	args->input.workspace = value_of(args, "workspace");
	args->input.details = given(args, "verbose");
	return 0;
}
