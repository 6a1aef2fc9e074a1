#pragma once
/*
 * Sizes and durations as people write them: "4G", "512K", "30m", "1h30m".
 * A size without a unit is bytes, a duration without one seconds.
 */
#include "base/base.h"

/* Decimal digits and nothing else, at most 18 of them. */
bool ab_parse_digits(const char *s, size_t len, uint64_t *ret);
int ab_parse_size(const char *s, uint64_t *ret_bytes);	/* 0 or -1 */
int ab_parse_duration(const char *s, uint64_t *ret_ms); /* 0 or -1 */
/* The shortest exact spelling; returns buf. */
const char *ab_format_size(uint64_t bytes, char buf[24]);
/* Rounded down, for people: exact ones are long. */
const char *ab_round_size(uint64_t bytes, char buf[24]);
const char *ab_format_duration(uint64_t ms, char buf[48]);
