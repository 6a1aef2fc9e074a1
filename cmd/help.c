#include "cmd.h"

#include <stdio.h>
#include <string.h>

static void print_option(const struct option *o)
{
	char left[64];

	snprintf(left, sizeof(left), "%s%c%s--%s%s%s", o->letter ? "-" : "",
		 o->letter ? o->letter : ' ', o->letter ? ", " : "   ", o->name,
		 o->value && o->kind != OPT_SWITCH ? " " : "", o->value ? o->value : "");
	/* A long option gets a line of its own. */
	if (strlen(left) > 34)
		printf("  %s\n  %-34s  %s\n", left, "", o->help);
	else
		printf("  %-34s  %s\n", left, o->help);
}

static void print_subs(const struct command *const *subs)
{
	printf("\n");
	for (; *subs; subs++)
		printf("  agentbox %s %s\n      %s\n", (*subs)->name, (*subs)->usage,
		       (*subs)->summary);
}

void print_help(const struct command *command)
{
	printf("agentbox %s %s\n\n%s\n", command->name, command->usage, command->summary);
	if (command->subs)
		print_subs(command->subs);
	if (command->more)
		printf("\n%s\n", command->more);
	for (const struct option_group *g = command->groups; g->v; g++) {
		/* Groups without a title share one heading. */
		if (g->title || g == command->groups || g[-1].title)
			printf("\n%s:\n", g->title ? g->title : "Options");
		for (const struct option *o = g->v; o->name; o++)
			print_option(o);
	}
}

void print_overview(void)
{
	printf("agentbox runs a command confined to one folder and the hosts you allow.\n\n"
	       "  agentbox run -- make test        run a command in the box\n"
	       "  agentbox check \"rm -rf /\"        judge a command without running it\n"
	       "  agentbox doctor                  show what this machine can enforce\n\n"
	       "Commands:\n");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	printf("\nRun `agentbox COMMAND --help` for details, `agentbox --version` for the "
	       "version.\n");
}
