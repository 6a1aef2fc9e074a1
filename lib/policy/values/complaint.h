#pragma once
/*
 * Why a value is refused: what is wrong, and what would be right. Both are safe
 * to print: what they quote is escaped and cut.
 */
struct ab_complaint {
	char wrong[256];
	char right[256]; /* or "" */
};

/* `"value" WRONG` ("is not a host"), and what would be right. Returns -1. */
int ab_complaint_value(struct ab_complaint *why, const char *value, const char *wrong,
		       const char *right, ...) __attribute__((format(printf, 4, 5)));
/* `invalid value "value"`, and what to use instead. Returns -1. */
int ab_why_invalid(struct ab_complaint *why, const char *value, const char *right);
/* Any sentence, and what would be right. Returns -1. */
int ab_complaint_say(struct ab_complaint *why, const char *right, const char *wrong, ...)
	__attribute__((format(printf, 3, 4)));
