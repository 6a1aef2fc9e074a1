/* Texts that the program carries: the manual and the completions (scripts/embed). */
#include "cmd.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *find_text(const char *texts, const char *name)
{
	while (*texts) {
		const char *text = texts + strlen(texts) + 1;

		if (strcmp(texts, name) == 0)
			return text;
		texts = text + strlen(text) + 1;
	}
	return NULL;
}

int print_paged(struct args *args, const char *text)
{
	const struct ab_strv none = { 0 };
	struct ab_error err = { 0 };
	struct ab_pager pager;

	if (ab_caller_init(&args->input, &err) < 0)
		return complain(args, &err);
	ab_pager_init(&pager, isatty(STDOUT_FILENO), &args->input, &none);
	fflush(stdout);
	ab_pager_put(&pager, text, strlen(text));
	ab_pager_close(&pager);
	if (pager.errnum) {
		tell("cannot write the result: %s", strerror(pager.errnum));
		return 1;
	}
	return 0;
}
