#include "base/data/error.h"

static void fill_error(struct ab_error *err, enum ab_code code, int errnum, const char *fmt,
		       va_list ap)
{
	size_t n;

	err->code = code;
	err->errnum = errnum;
	err->step[0] = '\0';
	err->hint[0] = '\0';
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	if (errnum) {
		n = strlen(err->text);
		snprintf(err->text + n, sizeof(err->text) - n, ": %s", strerror(errnum));
	}
}

int ab_fail(struct ab_error *err, enum ab_code code, int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill_error(err, code, errnum, fmt, ap);
	va_end(ap);
	return -1;
}

int ab_fail_step(struct ab_error *err, const char *step, int errnum, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill_error(err, AB_ESYSTEM, errnum, fmt, ap);
	va_end(ap);
	return ab_step(err, step);
}

int ab_wrap(struct ab_error *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t n;

	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %.*s", (int)sizeof(old) - 1, old);
	return -1;
}

int ab_hint(struct ab_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return -1;
}

int ab_step(struct ab_error *err, const char *step)
{
	if (!err->step[0])
		snprintf(err->step, sizeof(err->step), "%s", step);
	return -1;
}

static const char *const words[] = {
	[AB_ENONE] = "system",		 [AB_EUSAGE] = "usage",	       [AB_ECONFIG] = "config",
	[AB_ESYSTEM] = "system",	 [AB_EPROPERTY] = "property",  [AB_EREFUSED] = "refused",
	[AB_ENOEXEC] = "not-executable", [AB_ENOTFOUND] = "not-found",
};

const char *ab_error_word(enum ab_code code)
{
	return words[code];
}

enum ab_code ab_error_code(const char *word)
{
	for (size_t i = AB_ENONE + 1; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], word) == 0)
			return (enum ab_code)i;
	return AB_ESYSTEM;
}
