/* Secrets that leave the machine: which programs send what. */
#include "base/data/mem.h"
#include "shell/command/grammar.h"
#include "shell/command/rules.h"
#include "shell/command/secret_files.h"
#include "shell/syntax/name_table.h"

enum sends {
	WORDS,	/* what is in its words: a host name, an address */
	INPUT,	/* its standard input too */
	FILES,	/* files that it names, to where "host:" is */
	UPLOAD, /* files that its options name, by "@" or as such */
	STORE,	/* files that it names */
};

/* Sorted by name. */
static const struct sender {
	char name[12];
	enum sends sends;
} senders[] = {
	{ "aws", STORE },      { "curl", UPLOAD },  { "dig", WORDS },	   { "ftp", INPUT },
	{ "gsutil", STORE },   { "host", WORDS },   { "http", UPLOAD },	   { "https", UPLOAD },
	{ "mail", INPUT },     { "mailx", INPUT },  { "mutt", INPUT },	   { "nc", INPUT },
	{ "ncat", INPUT },     { "netcat", INPUT }, { "nslookup", WORDS }, { "openssl", INPUT },
	{ "ping", WORDS },     { "rclone", STORE }, { "rsync", FILES },	   { "scp", FILES },
	{ "sendmail", INPUT }, { "sftp", INPUT },   { "socat", INPUT },	   { "ssh", INPUT },
	{ "telnet", INPUT },   { "wget", UPLOAD },  { "xh", UPLOAD },
};

static bool input_is_secret(const struct ab_simple *command)
{
	if (command->in.taint & AB_TAINT_SECRET)
		return true;
	for (size_t i = 0; i < command->nredirects; i++)
		if (command->redirects[i].op == AB_REDIR_IN &&
		    ab_secret_in(command->cwd, command->redirects[i].file.text))
			return true;
	return false;
}

/* "@FILE", "name=@FILE;type=x", "<FILE", "-" for standard input. */
static bool payload_is_secret(const struct ab_simple *command, struct ab_text value, bool file)
{
	const char *at = memchr(value.s, '@', value.len);
	const char *end;

	if (!at && value.len > 0)
		at = memmem(value.s, value.len, "=<", 2) ? memchr(value.s, '<', value.len) : NULL;
	if (at) {
		value.len -= (uint32_t)(at + 1 - value.s);
		value.s = at + 1;
		end = memchr(value.s, ';', value.len);
		if (end)
			value.len = (uint32_t)(end - value.s);
	} else if (!file) {
		return false;
	}
	if (ab_text_is(value, "-"))
		return input_is_secret(command);
	return ab_secret_in(command->cwd, value);
}

static bool upload_is_secret(const struct ab_simple *command)
{
	const struct ab_opts opts = ab_grammar(command->name);
	struct ab_opt_walk w;
	enum ab_opt what;

	ab_opt_begin(&w, &opts, command->argv, command->argc);
	while ((what = ab_opt_next(&w)) != AB_OPT_END) {
		bool file = ab_opt_is(&w, what, 'T', "upload-file") ||
			    ab_opt_is(&w, what, 0, "post-file") ||
			    ab_opt_is(&w, what, 0, "body-file");
		bool data = what == AB_OPT_OPERAND ? !ab_text_is(command->name, "curl")
						   : w.letter == 'd' || w.letter == 'F' ||
							     ab_text_starts(w.name, "data") ||
							     ab_text_starts(w.name, "form") ||
							     ab_text_is(w.name, "json");

		if (w.value.text.s && (file || data) &&
		    payload_is_secret(command, w.value.text, file))
			return true;
	}
	return false;
}

static bool names_secret(const struct ab_simple *command, size_t to)
{
	for (size_t i = 1; i < to; i++)
		if (ab_secret_in(command->cwd, command->argv[i].text) &&
		    !ab_listed("-i --identity-file -F", command->argv[i - 1].text))
			return true;
	return false;
}

static bool copies_out(const struct ab_simple *command)
{
	struct ab_text last;

	if (command->argc < 3)
		return false;
	last = command->argv[command->argc - 1].text;
	return memchr(last.s, ':', last.len) && names_secret(command, command->argc - 1);
}

static bool sends_secret(const struct sender *sender, const struct ab_simple *command)
{
	for (size_t i = 1; i < command->argc; i++)
		if (command->argv[i].taint & AB_TAINT_SECRET)
			return true;
	switch (sender->sends) {
	case WORDS:
		return false;
	case INPUT:
		return input_is_secret(command) &&
		       (!ab_text_is(command->name, "openssl") ||
			(command->argc > 1 && ab_field_is(&command->argv[1], "s_client")));
	case FILES:
		return copies_out(command);
	case UPLOAD:
		return upload_is_secret(command);
	case STORE:
		return command->argc > 3 && names_secret(command, command->argc - 1);
	}
	return false;
}

void ab_match_sending(const struct ab_scene *scene, const struct ab_simple *command,
		      struct ab_hits *hits)
{
	const struct sender *sender = AB_LOOKUP(senders, command->name);

	(void)scene;
	if (sender && sends_secret(sender, command))
		ab_hit_because(hits, AB_RULE_EXFILTRATION, command->range, "Sends a secret out.");
}
