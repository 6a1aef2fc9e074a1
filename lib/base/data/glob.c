#include "base/data/glob.h"

#include <ctype.h>

/* Only the last star ever needs another try. */
bool ab_glob_matches(const char *pattern, size_t pattern_len, const char *text, size_t len,
		     bool fold)
{
	const char *p = pattern, *pattern_end = p + pattern_len, *star = NULL;
	const char *s = text, *end = len ? s + len : s, *retry = s;

	while (s < end) {
		if (p < pattern_end && *p == '*') {
			star = ++p;
			retry = s;
		} else if (p < pattern_end &&
			   (*p == '?' || *p == *s ||
			    (fold && tolower((unsigned char)*p) == tolower((unsigned char)*s)))) {
			p++;
			s++;
		} else if (star) {
			p = star;
			s = ++retry;
		} else {
			return false;
		}
	}
	while (p < pattern_end && *p == '*')
		p++;
	return p == pattern_end;
}
