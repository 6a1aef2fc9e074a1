#ifndef AB_SHELL_TOOLS_TOOL_H
#define AB_SHELL_TOOLS_TOOL_H
/*
 * Programs with subcommands and options, as data: which words of a tool do
 * what. Subcommands are found after the tool's own options, which the grammar
 * knows. An operand after an unknown option may be its value, so a deed is
 * looked for with and without that operand: an unknown option hides nothing.
 * Asking for help or a version does nothing.
 *
 * Pure, no memory.
 */
#include "shell/command/command_options.h"
#include "shell/command/rules.h"

enum { AB_TOOL_NAME_SIZE = 16 }; /* of names that tools refer to */

/*
 * A list of options has blanks between them: "-f --force" "--dry-run=client".
 * A letter is found in a bundle too, a long name by its beginning; "-XPOST" is
 * a letter with its value, "-delete" a whole word. A "*" stands for anything.
 * What has no dash is looked for among the operands behind the words.
 */
struct ab_deed {
	char name[AB_TOOL_NAME_SIZE]; /* by which tools refer to it and its like */
	/*
	 * The first operands: "compose up|down|restart"; a blank before the
	 * next one, "|" between choices, "create-*" any that begins so, "**"
	 * any number of words. "": no operand is needed.
	 */
	char words[256];
	char with[160];	   /* one of these is given; "": no matter */
	char without[160]; /* and none of these; "": no matter */
	enum ab_rule_id rule;
	bool bare;	 /* no operand follows the words */
	char reason[56]; /* a more exact one; "": the rule's */
};

enum ab_help {
	AB_HELP_ALONE,	/* --help; -h -V -? as the only argument */
	AB_HELP_LETTER, /* -h as the last word too */
	AB_HELP_LONG,	/* --help only: -h does something */
};

struct ab_tool {
	char program[20];
	char deeds[AB_TOOL_NAME_SIZE]; /* all of this name */
	enum ab_help help;
};

/*
 * Texts stand in the rows, names refer to other rows: a pointer would have to
 * be relocated at each start of the program, and its page copied.
 */
struct ab_toolbox {
	const struct ab_tool *tools; /* sorted by program */
	size_t len;
	const struct ab_deed *deeds; /* sorted by name, which many have */
	size_t ndeeds;
};

extern const struct ab_toolbox ab_tools_system, ab_tools_packages, ab_tools_git, ab_tools_publish,
	ab_tools_containers, ab_tools_clouds, ab_tools_hosts, ab_tools_reads;

enum { AB_OPERANDS_MAX = 8 };

/* The first operands of a command. */
struct ab_operands {
	const struct ab_field *v[AB_OPERANDS_MAX];
	bool maybe_value[AB_OPERANDS_MAX]; /* of an option: see struct ab_opt_walk */
	size_t len;
};

/* NULL: not in it. A version at the end of the name does not matter: pip3.11
 * is pip. */
const struct ab_tool *ab_tool_find(const struct ab_toolbox *box, struct ab_text name);
/* The tool's deeds: the first of them, and how many. */
const struct ab_deed *ab_tool_deeds(const struct ab_toolbox *box, const struct ab_tool *tool,
				    size_t *ret_len);
/* Every deed of the tool that the command does. */
void ab_tool_match(const struct ab_toolbox *box, const struct ab_tool *tool,
		   const struct ab_opts *opts, const struct ab_simple *command,
		   struct ab_hits *hits);
/* The same, of the tool that has the command's name, with its grammar. */
void ab_toolbox_match(const struct ab_toolbox *box, const struct ab_simple *command,
		      struct ab_hits *hits);

void ab_tool_operands(const struct ab_opts *opts, const struct ab_simple *command,
		      struct ab_operands *ret);
/* One of the options of `list` is given; `skip`: the operands that are the
 * tool's own words. */
bool ab_tool_given(const struct ab_opts *opts, const struct ab_simple *command, size_t skip,
		   const char *list);
/* Nothing about it can write or run a program beside what the words do: no
 * file is redirected into, every word is known, the program is the system's,
 * and no variable is set that may name another one. */
bool ab_tool_plain(const struct ab_simple *command);

#endif
