/*
 * Writes multiples.h: the points of the base point's comb (curve.h).
 *
 *     generate OUTPUT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/sign/curve.h"

static struct point double_times(struct point p, unsigned int times)
{
	while (times-- > 0)
		p = double_point(&p);
	return p;
}

static struct point negate_point(struct point p)
{
	p.x = subtract(zero, p.x);
	p.t = subtract(zero, p.t);
	return p;
}

/* The sum of one multiple for each tooth: the last counts +1, the others as the bits of `index` say. */
static struct point add_teeth(unsigned int comb, unsigned int index)
{
	struct point sum = { zero, one, one, zero };

	for (unsigned int tooth = 0; tooth < AB_COMB_TEETH; tooth++) {
		struct point p =
			double_times(base_point, (comb * AB_COMB_TEETH + tooth) * AB_COMB_SPACING);

		if (tooth + 1 < AB_COMB_TEETH && !(index >> tooth & 1))
			p = negate_point(p);
		sum = add_points(&sum, &p);
	}
	return sum;
}

/* In the one form that each number has, so that builds are the same everywhere. */
static void print_field(FILE *out, struct field a)
{
	uint8_t bytes[32];

	store_field(a, bytes);
	a = load_field(bytes);
	fputs("{ { ", out);
	for (int i = 0; i < 5; i++)
		fprintf(out, "0x%013llx%s", (unsigned long long)a.v[i], i < 4 ? ", " : " } }");
}

static void print_point(FILE *out, const struct point *p)
{
	struct field inverse = invert(p->z), x = multiply(p->x, inverse),
		     y = multiply(p->y, inverse);

	fputs("\t\t{ ", out);
	print_field(out, add(y, x));
	fputs(",\n\t\t  ", out);
	print_field(out, subtract(y, x));
	fputs(",\n\t\t  ", out);
	print_field(out, multiply(multiply(x, y), curve_2d));
	fputs(" },\n", out);
}

int main(int argc, char *argv[])
{
	FILE *out = argc == 2 ? fopen(argv[1], "we") : NULL;

	if (!out) {
		fputs("generate: cannot write the output\n", stderr);
		return 1;
	}
	fputs("/* Generated from curve.h. */\nstatic const struct ready_point "
	      "multiples[AB_COMBS][AB_COMB_POINTS] = {\n",
	      out);
	for (unsigned int comb = 0; comb < AB_COMBS; comb++) {
		fputs("\t{\n", out);
		for (unsigned int i = 0; i < AB_COMB_POINTS; i++) {
			struct point p = add_teeth(comb, i);

			print_point(out, &p);
		}
		fputs("\t},\n", out);
	}
	fputs("};\n", out);
	return fflush(out) || ferror(out) || fclose(out) ? 1 : 0;
}
