/*
 * Programs that no table knows may run their words: as a command that begins at one
 * of them (`newtool -j 4 rm -rf /`), as a script (`newtool -c 'rm -rf /'`), or as code
 * with a script in a string (`newlang -e 'system("rm -rf /")'`). Each such reading is
 * walked as a guess: it changes nothing in this shell, and only strict verdicts count.
 */
#include "shell/match/explained.h"
#include "shell/syntax/name_table.h"
#include "shell/walk/walk_state.h"

enum {
	WORDS_MAX = 12,	   /* words of a command that are tried */
	SCRIPT_MAX = 4096, /* bytes of a script that are tried */
	STRINGS_MAX = 16,  /* strings in a piece of code */
	GUESSES_MAX = 200, /* in one text */
};

/* Programs worth a guess: others have no strict verdict, or are names of many
 * things. Sorted. */
static const char runnable[][12] = {
	"ash",	   "awk",      "bash",	    "busybox",	"cat",	    "chattr",	 "chgrp",
	"chmod",   "chown",    "chroot",    "cp",	"crontab",  "curl",	 "dash",
	"dd",	   "doas",     "docker",    "env",	"eval",	    "fdisk",	 "find",
	"fish",	   "git",      "halt",	    "insmod",	"install",  "iptables",	 "kill",
	"killall", "ksh",      "kubectl",   "ln",	"mkfs",	    "mkfs.ext4", "mkfs.xfs",
	"mkswap",  "modprobe", "mount",	    "mv",	"nc",	    "ncat",	 "netcat",
	"nft",	   "node",     "nsenter",   "parted",	"passwd",   "perl",	 "php",
	"pkexec",  "pkill",    "podman",    "poweroff", "python",   "python3",	 "reboot",
	"rm",	   "rmmod",    "rsync",	    "ruby",	"scp",	    "sed",	 "service",
	"setcap",  "sftp",     "sh",	    "shred",	"shutdown", "socat",	 "ssh",
	"su",	   "sudo",     "systemctl", "tar",	"tee",	    "telnet",	 "truncate",
	"umount",  "unshare",  "useradd",   "userdel",	"usermod",  "visudo",	 "wget",
	"wipefs",  "xargs",    "zsh",
};

struct guess {
	const struct ab_walk_events *outer;
	bool any; /* an escalated verdict counts too */
};

static void report_guess(void *arg, const struct ab_simple *command, bool hollow, void *place)
{
	const struct guess *g = arg;

	(void)place;
	g->outer->guess(g->outer->arg, command, hollow, g->any);
}

static bool is_runnable(struct ab_text name)
{
	name = ab_text_base(name);
	return name.len > 1 && AB_LOOKUP_WORD(runnable, name);
}

static bool is_name_byte(char c)
{
	return ab_is_name_byte(c) || c == '.' || c == '-';
}

/* Is a runnable name among the words of this text? */
static bool mentions_program(struct ab_text t)
{
	uint32_t i = 0;

	while (i < t.len) {
		uint32_t from = i;

		while (i < t.len && is_name_byte(t.s[i]))
			i++;
		if (i > from + 1 && is_runnable((struct ab_text){ t.s + from, i - from }))
			return true;
		i += i == from;
	}
	return false;
}

/* The value of such an option is likely to be run. */
static bool is_run_option(struct ab_text option)
{
	return option.len > 1 && option.s[0] == '-' &&
	       (ab_listed("-c -e -x -E -C -ex -r", option) ||
		ab_starts_listed("--exec --eval --comm --cmd --run -exec", option));
}

/* Walk the words from `from` on, or else `script`, with nothing kept. */
static void walk_guess(struct ab_walk *w, const struct ab_simple *command, size_t from,
		       const struct ab_field *script, bool any)
{
	struct guess guess = { w->events, any };
	/* Most words are not scripts: what cannot be read says nothing. */
	const struct ab_walk_events events = { .command = report_guess, .arg = &guess };
	const struct ab_walk_events *outer = w->events;
	const struct ab_file *files = w->files;
	size_t nfiles = w->nfiles;
	struct ab_walk_saved saved;
	struct ab_simple tail;

	if (w->guesses++ >= GUESSES_MAX || w->levels + 2 >= AB_WALK_LEVELS_MAX ||
	    w->nested > AB_WALK_NESTED_MAX / 2)
		return;
	w->events = &events;
	w->guessing = true;
	if (script) {
		ab_walk_text(w, script);
	} else {
		ab_walk_enter(w, &saved);
		w->out = NULL;
		w->again++;
		w->levels++;
		tail = *command;
		tail.argv += from;
		tail.argc -= from;
		tail.bindings = NULL;
		tail.nbindings = 0;
		ab_walk_name(&tail);
		ab_walk_run(w, &tail, NULL);
		w->levels--;
		w->again--;
		ab_walk_leave(w, &saved);
	}
	w->guessing = false;
	w->events = outer;
	w->files = files;
	w->nfiles = nfiles;
	if (w->over) {
		w->over = false;
		ab_walk_stop(w, command->range, "Too complex to analyse completely.");
	}
}

/* The strings in a piece of code. */
static void guess_strings(struct ab_walk *w, const struct ab_simple *command,
			  const struct ab_field *code, bool any)
{
	struct ab_text t = code->text;
	unsigned strings = 0;

	for (uint32_t i = 0; i < t.len && strings < STRINGS_MAX; i++) {
		struct ab_field script = *code;
		struct ab_text rest = ab_text_rest(t, i + 1);

		if (!strchr("\"'`", t.s[i]) || !t.s[i] || !ab_text_has(rest, t.s[i]))
			continue;
		script.text = ab_text_cut(&rest, t.s[i]);
		script.verbatim = AB_NOT_VERBATIM;
		i += script.text.len + 1;
		strings++;
		if (ab_text_has(script.text, ' ') && mentions_program(script.text))
			walk_guess(w, command, 0, &script, any);
	}
}

static void guess_script(struct ab_walk *w, const struct ab_simple *command,
			 const struct ab_field *word, bool any)
{
	struct ab_text t = word->text;

	if (t.len < 4 || t.len > SCRIPT_MAX || ab_field_is(word, "") ||
	    !(ab_text_has(t, ' ') || ab_text_has(t, '\t') || ab_text_has(t, '\n')) ||
	    !mentions_program(t))
		return;
	walk_guess(w, command, 0, word, any);
	guess_strings(w, command, word, any);
}

/* A word that is a program's name, or several words in one. */
static bool may_hold_command(const struct ab_simple *command)
{
	for (size_t i = 1; i < command->argc && i < WORDS_MAX; i++) {
		struct ab_text t = command->argv[i].text;

		if (t.len > 3 && ab_text_has(t, ' '))
			return true;
		if (i + 1 < command->argc && is_runnable(t))
			return true;
	}
	return false;
}

void ab_walk_guess(struct ab_walk *w, const struct ab_simple *command)
{
	size_t end = command->argc < WORDS_MAX ? command->argc : WORDS_MAX;

	if (w->guessing || !w->events->guess || command->argc < 2 || command->name.len == 0 ||
	    !may_hold_command(command) || ab_explained(command) != AB_EXPLAINED_NOT)
		return;
	for (size_t i = 1; i < end && !w->over; i++) {
		const struct ab_field *word = &command->argv[i];
		struct ab_text before = command->argv[i - 1].text;

		if (word->unknown || word->text.len < 2)
			continue;
		if (i + 1 < command->argc && is_runnable(word->text))
			walk_guess(w, command, i, NULL, true);
		else if (!ab_explains_prose(before))
			guess_script(w, command, word, is_run_option(before));
	}
}
