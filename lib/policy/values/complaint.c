#include "policy/values/complaint.h"

#include "base/base.h"

enum { QUOTE = 80 }; /* bytes of a value that a message quotes */

/* The value, escaped, and cut at a whole escape or character. */
static void put_quoted(struct ab_buf *b, const char *value)
{
	ab_autofree char *head = ab_strndup(value, QUOTE);
	bool cut = strlen(value) > QUOTE;

	while (cut && head[0] && (head[strlen(head) - 1] & 0xc0) == 0x80)
		head[strlen(head) - 1] = '\0';
	if (cut && head[0] && (head[strlen(head) - 1] & 0x80))
		head[strlen(head) - 1] = '\0';
	ab_buf_puts(b, "\"");
	ab_buf_escape(b, head);
	ab_buf_puts(b, cut ? "...\"" : "\"");
}

int ab_complaint_value(struct ab_complaint *why, const char *value, const char *wrong,
		       const char *right, ...)
{
	ab_autobuf struct ab_buf b = { 0 };
	va_list ap;

	if (!why)
		return -1;
	put_quoted(&b, value);
	snprintf(why->wrong, sizeof(why->wrong), "%s %s", b.data, wrong);
	va_start(ap, right);
	vsnprintf(why->right, sizeof(why->right), right, ap);
	va_end(ap);
	return -1;
}

int ab_why_invalid(struct ab_complaint *why, const char *value, const char *right)
{
	ab_autobuf struct ab_buf b = { 0 };

	put_quoted(&b, value);
	return ab_complaint_say(why, right, "invalid value %s", b.data);
}

int ab_complaint_say(struct ab_complaint *why, const char *right, const char *wrong, ...)
{
	va_list ap;

	if (!why)
		return -1;
	va_start(ap, wrong);
	vsnprintf(why->wrong, sizeof(why->wrong), wrong, ap);
	va_end(ap);
	snprintf(why->right, sizeof(why->right), "%s", right);
	return -1;
}
