#pragma once
/*
 * What a command prints, as far as known: echo, printf and cat of static text,
 * decoders of it (base64 -d, xxd -r, rev, tr), downloads, and filters that pass
 * on their input. Pure; memory from the arena; bounded.
 */
#include "base/base.h"
#include "shell/command/simple.h"

void ab_printed_output(struct ab_arena *arena, const struct ab_simple *command,
		       struct ab_data *ret);
