#include "audit/read/words.h"

#include <stdio.h>

#include "base/data/mem.h"

const char *ab_words_size(uint64_t bytes, char ret[AB_AMOUNT_ROOM])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	uint64_t tenths = bytes * 10;
	size_t unit = 0;

	if (bytes > UINT64_MAX / 10) {
		snprintf(ret, AB_AMOUNT_ROOM, "%.1f EiB", (double)bytes / (1ull << 60));
		return ret;
	}
	/* 1023.96 KiB would be written 1024.0. */
	for (; tenths >= 10235 && unit + 1 < AB_COUNT(units); unit++)
		tenths = (tenths + 512) / 1024;
	if (unit == 0 || tenths >= 100)
		snprintf(ret, AB_AMOUNT_ROOM, "%llu %s", (unsigned long long)(tenths + 5) / 10,
			 units[unit]);
	else
		snprintf(ret, AB_AMOUNT_ROOM, "%llu.%llu %s", (unsigned long long)tenths / 10,
			 (unsigned long long)tenths % 10, units[unit]);
	return ret;
}

/* "4m 10s", "4m" */
static void put_two(char ret[AB_AMOUNT_ROOM], unsigned long long a, char unit, unsigned long long b,
		    char smaller)
{
	if (b)
		snprintf(ret, AB_AMOUNT_ROOM, "%llu%c %llu%c", a, unit, b, smaller);
	else
		snprintf(ret, AB_AMOUNT_ROOM, "%llu%c", a, unit);
}

const char *ab_words_time(uint64_t ms, char ret[AB_AMOUNT_ROOM])
{
	unsigned long long s = ms / 1000;

	if (ms < 1000)
		snprintf(ret, AB_AMOUNT_ROOM, "%llu ms", (unsigned long long)ms);
	else if (s < 60)
		snprintf(ret, AB_AMOUNT_ROOM, "%llu.%llu s", s, (unsigned long long)ms / 100 % 10);
	else if (s < 3600)
		put_two(ret, s / 60, 'm', s % 60, 's');
	else if (s < 2 * 86400)
		put_two(ret, s / 3600, 'h', s / 60 % 60, 'm');
	else
		put_two(ret, s / 86400, 'd', s / 3600 % 24, 'h');
	return ret;
}
