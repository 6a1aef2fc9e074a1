#include "shell/output/output.h"

static void make_room(struct ab_output *out, uint32_t more)
{
	uint32_t room = 2 * (out->len + more) + 64;
	char *bigger;

	if (out->len + more <= out->room)
		return;
	bigger = ab_arena_alloc(out->arena, room);
	if (out->len)
		memcpy(bigger, out->s, out->len);
	out->s = bigger;
	out->room = room;
}

void ab_output_add(struct ab_output *out, const char *s, size_t len)
{
	if (out->full)
		return;
	if (len > AB_OUTPUT_MAX - out->len) {
		ab_output_unknown(out);
		out->full = true;
		return;
	}
	make_room(out, (uint32_t)len);
	if (len)
		memcpy(out->s + out->len, s, len);
	out->len += (uint32_t)len;
}

void ab_output_byte(struct ab_output *out, char c)
{
	if (c)
		ab_output_add(out, &c, 1);
}

void ab_output_unknown(struct ab_output *out)
{
	out->unknown = true;
	if (out->full || (out->len && out->s[out->len - 1] == AB_UNKNOWN))
		return;
	make_room(out, 1);
	out->s[out->len++] = AB_UNKNOWN;
	out->full = out->len >= AB_OUTPUT_MAX;
}

void ab_output_field(struct ab_output *out, const struct ab_field *f)
{
	ab_output_add(out, f->text.s, f->text.len);
	out->unknown |= f->unknown;
	out->taint |= f->taint;
}

bool ab_output_only(struct ab_output *out, unsigned taint)
{
	ab_output_unknown(out);
	out->taint |= taint;
	return true;
}
