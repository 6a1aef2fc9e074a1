#ifndef AB_POLICY_VALUES_COMPLAINT_H
#define AB_POLICY_VALUES_COMPLAINT_H
/*
 * Why a value is not accepted: what is wrong, and what would be right. Both
 * are safe to print: what was quoted from the input is escaped and cut.
 */
struct ab_complaint {
	char wrong[256];
	char right[256]; /* "" when there is nothing to say */
};

/* `"value" is WRONG`, and the way out. Returns -1. */
int ab_complaint_value(struct ab_complaint *why, const char *value, const char *wrong,
		       const char *right, ...) __attribute__((format(printf, 4, 5)));
/* Any sentence, and the way out. Returns -1. */
int ab_complaint_say(struct ab_complaint *why, const char *right, const char *wrong, ...)
	__attribute__((format(printf, 3, 4)));

#endif
