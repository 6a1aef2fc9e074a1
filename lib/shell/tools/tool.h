#ifndef AB_SHELL_TOOLS_TOOL_H
#define AB_SHELL_TOOLS_TOOL_H
/*
 * Programs with subcommands and options, as tables: what each combination of words
 * does. A subcommand follows the tool's own options, which are in the grammar. An
 * operand after an unknown option may be its value, so deeds are matched with and
 * without that operand: an unknown option hides nothing. A request for help or the
 * version matches no deed, except one that allows.
 *
 * Pure, no memory.
 */
#include "shell/command/command_options.h"
#include "shell/command/name_index.h"
#include "shell/command/rules.h"

enum { AB_TOOL_NAME_SIZE = 16 }; /* of a group of deeds */

/*
 * Options in a list are separated by blanks: "-f --force" "--dry-run=client". A
 * letter also matches in a bundle, a long name also when abbreviated; "-XPOST" is
 * a letter with its value, "-delete" a whole word. "*" matches anything. An item
 * without a dash matches an operand after the words.
 */
struct ab_deed {
	char name[AB_TOOL_NAME_SIZE]; /* group that tools refer to */
	/*
	 * The first operands, separated by blanks: "compose up|down|restart".
	 * "|" separates choices, "create-*" matches a prefix, "**" any number
	 * of words. "": no operand is needed.
	 */
	char words[256];
	char with[160];	   /* requires one of these options; "": any */
	char without[160]; /* excludes these options; "": none */
	enum ab_rule_id rule;
	bool bare;	 /* no operand follows the words */
	char reason[56]; /* more specific than the rule's; "": use the rule's */
};

enum ab_help {
	AB_HELP_ALONE,	/* --help; -h -V -? as the only argument */
	AB_HELP_LETTER, /* also -h as the last word */
	AB_HELP_LONG,	/* only --help: -h has another meaning */
};

struct ab_tool {
	char program[20];
	char deeds[AB_TOOL_NAME_SIZE]; /* name of the group */
	enum ab_help help;
};

/*
 * Rows contain texts and names of other rows instead of pointers: a pointer would
 * be relocated at each start of the program, which copies its page.
 */
struct ab_toolbox {
	const struct ab_tool *tools; /* sorted by program */
	size_t len;
	const struct ab_deed *deeds; /* sorted by name, which is not unique */
	size_t ndeeds;
	unsigned table; /* enum ab_table; 0: not in the index of names */
};

extern const struct ab_toolbox ab_tools_system, ab_tools_packages, ab_tools_git, ab_tools_publish,
	ab_tools_containers, ab_tools_clouds, ab_tools_hosts, ab_tools_reads;

enum { AB_OPERANDS_MAX = 8 };

/* The first operands of a command. */
struct ab_operands {
	const struct ab_field *v[AB_OPERANDS_MAX];
	bool maybe_value[AB_OPERANDS_MAX]; /* see struct ab_opt_walk */
	size_t len;
};

/* NULL if not found. Ignores a version at the end of the name: pip3.11 is pip. */
const struct ab_tool *ab_tool_find(const struct ab_toolbox *box, struct ab_text name);
/* The same for the command's name. */
const struct ab_tool *ab_toolbox_find(const struct ab_toolbox *box,
				      const struct ab_simple *command);
/* The first of the tool's deeds; *ret_len: their number. */
const struct ab_deed *ab_tool_deeds(const struct ab_toolbox *box, const struct ab_tool *tool,
				    size_t *ret_len);
/* Add a hit for every deed of the tool that the command does. */
void ab_tool_match(const struct ab_toolbox *box, const struct ab_tool *tool,
		   const struct ab_opts *opts, const struct ab_simple *command,
		   struct ab_hits *hits);
/* The same for the tool named like the command, with its grammar. */
void ab_toolbox_search(const struct ab_toolbox *box, const struct ab_simple *command,
		       struct ab_hits *hits);
/* Most boxes do not have the command: they cost one test. */
static inline void ab_toolbox_match(const struct ab_toolbox *box, const struct ab_simple *command,
				    struct ab_hits *hits)
{
	if (!box->table || ab_command_in(command, box->table))
		ab_toolbox_search(box, command, hits);
}

void ab_tool_operands(const struct ab_opts *opts, const struct ab_simple *command,
		      struct ab_operands *ret);
/* Is one of the options in `list` given? `skip`: leading operands that are the
 * tool's subcommands. */
bool ab_tool_given(const struct ab_opts *opts, const struct ab_simple *command, size_t skip,
		   const char *list);
/* The command cannot write or run anything beyond what its words say: no output goes
 * to a file, every word is known, the program belongs to the system, and no variable
 * is set that may name another program. */
bool ab_tool_plain(const struct ab_simple *command);

#endif
