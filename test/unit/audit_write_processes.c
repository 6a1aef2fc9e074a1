/* Who it was: what is taken, and what is shown. */
#include "audit/write/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/data/mem.h"
#include "tap.h"

static const struct {
	const char *json, *line, *nearest;
} cases[] = {
	{ "[]", "[]", NULL },
	{ "[ {\"pid\": 3, \"exe\": \"/usr/bin/curl\"} ]", "[{\"pid\":3,\"exe\":\"/usr/bin/curl\"}]",
	  "curl, pid 3" },
	{ "[{\"pid\":3,\"exe\":\"/a/b\"},{\"pid\":1,\"exe\":\"/c\"}]",
	  "[{\"pid\":3,\"exe\":\"/a/b\"},{\"pid\":1,\"exe\":\"/c\"}]", "b, pid 3" },
	{ "[{\"pid\":3,\"exe\":\"\\u001b[2Jx\\n\"}]", "[{\"pid\":3,\"exe\":\"\\u001B[2Jx\\n\"}]",
	  "\\x1b[2Jx\\x0a, pid 3" },
	{ "[{\"pid\":3,\"exe\":\"/a/\\u202eb\"}]", NULL, "\\xe2\\x80\\xaeb, pid 3" },
	{ "[{\"pid\":3,\"exe\":\"/0123456789012345678901234567890123456789x\"}"
	  "]",
	  NULL, "0123456789012345678901234567890123456789..., pid 3" },
	{ "[{\"pid\":3,\"exe\":\"dir/\"}]", NULL, "dir/, pid 3" },
	{ "[{\"pid\":3}]", "[{\"pid\":3}]", NULL },
	{ "[{\"pid\":\"3\",\"exe\":\"x\"}]", NULL, NULL },
	{ "[1]", "[1]", NULL },
	{ "{}", "", NULL },
	{ "", "", NULL },
	{ "[1", "", NULL },
	{ "[1]\n[2]", "", NULL },
	{ "[\"\xff\"]", "", NULL },
};

static void check_length(void)
{
	char *text = ab_alloc(AB_PROCESSES_MAX + 2);
	ab_autofree char *fits = NULL, *beyond = NULL;

	memset(text, ' ', AB_PROCESSES_MAX + 1);
	text[0] = '[';
	text[AB_PROCESSES_MAX - 1] = ']';
	text[AB_PROCESSES_MAX] = '\0';
	fits = ab_processes_line(text);
	text[AB_PROCESSES_MAX - 1] = ' ';
	text[AB_PROCESSES_MAX] = ']';
	text[AB_PROCESSES_MAX + 1] = '\0';
	beyond = ab_processes_line(text);
	is_str(fits, "[]", "one that fits");
	ok(!beyond, "one that is too long");
	free(text);
}

int main(void)
{
	for (size_t i = 0; i < AB_COUNT(cases); i++) {
		ab_autofree char *line = ab_processes_line(cases[i].json);
		ab_autofree char *near = ab_processes_nearest(cases[i].json);

		if (cases[i].line)
			is_str(line ? line : "", cases[i].line, "one line");
		else
			ok(line && !strchr(line, '\n'), "one line");
		is_str(near ? near : "", cases[i].nearest ? cases[i].nearest : "", "the nearest");
	}
	check_length();
	return done();
}
