#pragma once
/*
 * Collects the bytes that a command would print. Bounded: the rest is one
 * unknown stretch. Zero bytes are dropped, as a shell that reads them does.
 */
#include "base/base.h"
#include "shell/command/simple.h"

enum { AB_OUTPUT_MAX = 64 << 10 };

struct ab_output {
	struct ab_arena *arena;
	char *s;
	uint32_t len, room;
	bool unknown, full;
	unsigned taint;
};

void ab_output_byte(struct ab_output *out, char c);
void ab_output_add(struct ab_output *out, const char *s, size_t len);
void ab_output_unknown(struct ab_output *out);
/* Only the taint is known. Returns true. */
bool ab_output_only(struct ab_output *out, unsigned taint);
/* Including its unknown stretches and taint. */
void ab_output_field(struct ab_output *out, const struct ab_field *f);

/* echo_printf.c. False: it prints nothing (printf -v). */
bool ab_print_echo(struct ab_output *out, const struct ab_simple *command);
bool ab_print_printf(struct ab_output *out, const struct ab_simple *command);
bool ab_print_seq(struct ab_output *out, const struct ab_simple *command);

/*
 * decode.c. False: the output is unknown. Invalid input ends the output early,
 * as it does in the programs.
 */
bool ab_decode_base64(struct ab_output *out, struct ab_text in);
bool ab_decode_base32(struct ab_output *out, struct ab_text in);
bool ab_decode_hex(struct ab_output *out, struct ab_text in);
/* `lines`: of 76 digits; else one line without a newline. */
void ab_encode_base64(struct ab_output *out, struct ab_text in, bool lines);
void ab_encode_hex(struct ab_output *out, struct ab_text in);
bool ab_decode_rev(struct ab_output *out, struct ab_text in);
bool ab_decode_tr(struct ab_output *out, const struct ab_simple *command);
