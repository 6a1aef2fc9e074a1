/* Texts that the program carries: the manual, the paragraphs and examples of --help, and the
 * completions (scripts/embed). */
#include "cmd.h"

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

int print_paged(const struct args *args, const char *text)
{
	const struct ab_strv none = { 0 };
	struct ab_pager pager;

	fflush(stdout);
	ab_pager_init(&pager, output_columns() > 0 && !given(args, "json"), &args->input, &none);
	(void)ab_pager_put(&pager, text, strlen(text));
	ab_pager_close(&pager);
	if (pager.refused.code != AB_ENONE)
		tell("no pager: %s", pager.refused.text);
	if (pager.errnum)
		tell("cannot write the result: %s", strerror(pager.errnum));
	return pager.errnum ? 1 : 0;
}
