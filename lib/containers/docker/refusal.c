#include "containers/docker/refusal.h"

#include "base/base.h"

int ab_refuse(struct ab_refusal *why, int status, const char *rule, const char *fmt, ...)
{
	va_list ap;

	why->status = status;
	why->rule = rule;
	va_start(ap, fmt);
	vsnprintf(why->reason, sizeof(why->reason), fmt, ap);
	va_end(ap);
	return -1;
}
