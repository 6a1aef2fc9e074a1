#ifndef AB_SHELL_OUTPUT_FILTERS_H
#define AB_SHELL_OUTPUT_FILTERS_H
/*
 * The programs of which more is known than that they pass on what they read,
 * for the table in printed.c.
 */
#include "shell/output/output.h"

/* What is printed by the command; false: nothing. */
typedef bool ab_printed_fn(struct ab_output *out, const struct ab_simple *command);

ab_printed_fn ab_printed_base32;
ab_printed_fn ab_printed_base64;
ab_printed_fn ab_printed_cat;
ab_printed_fn ab_printed_curl;
ab_printed_fn ab_printed_echo;
ab_printed_fn ab_printed_history;
ab_printed_fn ab_printed_listing;
ab_printed_fn ab_printed_mktemp;
ab_printed_fn ab_printed_network;
ab_printed_fn ab_printed_nothing;
ab_printed_fn ab_printed_openssl;
ab_printed_fn ab_printed_printenv;
ab_printed_fn ab_printed_pwd;
ab_printed_fn ab_printed_rev;
ab_printed_fn ab_printed_seq;
ab_printed_fn ab_printed_settings;
ab_printed_fn ab_printed_tee;
ab_printed_fn ab_printed_tr;
ab_printed_fn ab_printed_wget;
ab_printed_fn ab_printed_xxd;

/* What a command reads: its operands after the first `skip`, or its standard
 * input. */
struct ab_reads {
	unsigned taint;
	size_t files;
	bool changed; /* an option was given */
	bool decodes; /* -d, -D, --decode, --decompress */
};

void ab_printed_reads(const struct ab_simple *command, size_t skip, struct ab_reads *ret);
/* A name of standard output. */
bool ab_printed_is_stdout(const struct ab_field *f);

#endif
