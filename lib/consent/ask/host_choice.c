#include "consent/ask/host_choice.h"

const char *const ab_choice_names[AB_CHOICE_COUNT] = {
	[AB_CHOICE_NO] = "no",	     [AB_CHOICE_ONCE] = "once",	      [AB_CHOICE_RUN] = "run",
	[AB_CHOICE_GROUP] = "group", [AB_CHOICE_PROJECT] = "project", [AB_CHOICE_ALWAYS] = "always",
	[AB_CHOICE_NEVER] = "never",
};

enum ab_host_choice ab_choice_of_answer(enum ab_answer answer)
{
	switch (answer) {
	case AB_ANSWER_ONCE:
		return AB_CHOICE_ONCE;
	case AB_ANSWER_SESSION:
		return AB_CHOICE_RUN;
	case AB_ANSWER_ALWAYS:
		return AB_CHOICE_ALWAYS;
	case AB_ANSWER_NO:
		break;
	}
	return AB_CHOICE_NO;
}
