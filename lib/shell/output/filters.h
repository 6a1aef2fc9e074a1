#ifndef AB_SHELL_OUTPUT_FILTERS_H
#define AB_SHELL_OUTPUT_FILTERS_H
/*
 * The programs of which more is known than that they pass on what they read,
 * for the table in printed.c.
 */
#include "shell/output/output.h"

/* What is printed by the command; false: nothing. */
typedef bool ab_flow_fn(struct ab_output *out, const struct ab_simple *command);

ab_flow_fn ab_flow_base32;
ab_flow_fn ab_flow_base64;
ab_flow_fn ab_flow_cat;
ab_flow_fn ab_flow_curl;
ab_flow_fn ab_flow_echo;
ab_flow_fn ab_flow_history;
ab_flow_fn ab_flow_listing;
ab_flow_fn ab_flow_mktemp;
ab_flow_fn ab_flow_network;
ab_flow_fn ab_flow_nothing;
ab_flow_fn ab_flow_openssl;
ab_flow_fn ab_flow_printenv;
ab_flow_fn ab_flow_pwd;
ab_flow_fn ab_flow_rev;
ab_flow_fn ab_flow_seq;
ab_flow_fn ab_flow_settings;
ab_flow_fn ab_flow_tee;
ab_flow_fn ab_flow_tr;
ab_flow_fn ab_flow_wget;
ab_flow_fn ab_flow_xxd;

/* What a command reads: its operands after the first `skip`, or its standard
 * input. */
struct ab_reads {
	unsigned taint;
	size_t files;
	bool changed; /* an option was given */
	bool decodes; /* -d, -D, --decode, --decompress */
};

/* `values`: letters of options that take one. */
void ab_flow_reads(const struct ab_simple *command, const char *values, size_t skip,
		   struct ab_reads *ret);
/* A name of standard output. */
bool ab_flow_is_stdout(const struct ab_field *f);

#endif
