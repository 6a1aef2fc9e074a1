#ifndef AB_BASE_SIGN_CURVE_H
#define AB_BASE_SIGN_CURVE_H
/*
 * The arithmetic of Ed25519, for ed25519.c and for the program that makes its table when agentbox is
 * built. No branch and no index depends on a number, so that a key cannot be found by measuring.
 *
 * Numbers modulo p = 2^255 - 19 are five limbs of 51 bits, least significant
 * first. A product leaves limbs just above 51 bits, a sum of two of those 52
 * bits; a product takes limbs of up to 54 bits, so sums need no carry, and a
 * difference is carried at once.
 *
 * Points of the curve -x^2 + y^2 = 1 + d x^2 y^2 are (X : Y : Z : T) with
 * x = X/Z, y = Y/Z, T = XY/Z. On this curve one formula adds any two points,
 * equal or not, so there are no branches for special cases.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

struct field {
	uint64_t v[5];
};

struct point {
	struct field x, y, z, t;
};

/* A point of a table: y + x, y - x, 2 d x y, which adding it needs. */
struct ready_point {
	struct field sum, difference, product;
};

/*
 * A comb for multiples of the base point. The bits of a scalar are written as rows of
 * AB_COMB_SPACING, AB_COMB_TEETH rows for each of AB_COMBS tables. One column is an index into each
 * table, so that a few doublings, one for each column, serve all of them. Each bit counts as +1 or
 * -1: then one row is the sign of the others, and a table has half the size.
 */
enum {
	AB_COMBS = 5,
	AB_COMB_TEETH = 4,
	AB_COMB_SPACING = 13,
	AB_COMB_POINTS = 1 << (AB_COMB_TEETH - 1),
	AB_COMB_BITS = AB_COMBS * AB_COMB_TEETH * AB_COMB_SPACING, /* 260: 255 and some */
};

#define LIMB ((UINT64_C(1) << 51) - 1)

static const struct field zero = { { 0 } }, one = { { 1 } };
static const struct field curve_d = { { 0x34dca135978a3, 0x1a8283b156ebd, 0x5e7a26001c029,
					0x739c663a03cbb, 0x52036cee2b6ff } };
static const struct field curve_2d = { { 0x69b9426b2f159, 0x35050762add7a, 0x3cf44c0038052,
					 0x6738cc7407977, 0x2406d9dc56dff } };
/* A square root of -1. */
static const struct field root_of_minus_one = { { 0x61b274a0ea0b0, 0x0d5a5fc8f189d, 0x7ef5e9cbd0c60,
						  0x78595a6804c9e, 0x2b8324804fc1d } };
static const struct point base_point = {
	{ { 0x62d608f25d51a, 0x412a4b4f6592a, 0x75b7171a4b31d, 0x1ff60527118fe, 0x216936d3cd6e5 } },
	{ { 0x6666666666658, 0x4cccccccccccc, 0x1999999999999, 0x3333333333333, 0x6666666666666 } },
	{ { 1 } },
	{ { 0x68ab3a5b7dda3, 0x00eea2a5eadbb, 0x2af8df483c27e, 0x332b375274732, 0x67875f0fd78b7 } },
};

static inline struct field carry_limbs(struct field a)
{
	for (int i = 0; i < 4; i++) {
		a.v[i + 1] += a.v[i] >> 51;
		a.v[i] &= LIMB;
	}
	a.v[0] += 19 * (a.v[4] >> 51);
	a.v[4] &= LIMB;
	return a;
}

static inline struct field add(struct field a, struct field b)
{
	for (int i = 0; i < 5; i++)
		a.v[i] += b.v[i];
	return a;
}

/* a + 4p - b, so that no limb becomes negative. */
static inline struct field subtract(struct field a, struct field b)
{
	for (int i = 0; i < 5; i++)
		a.v[i] += 4 * (LIMB - (i == 0 ? 18 : 0)) - b.v[i];
	return carry_limbs(a);
}

static inline struct field carry_sums(wide sum[5])
{
	struct field r;
	uint64_t carry = 0;

#pragma GCC unroll 5
	for (int i = 0; i < 5; i++) {
		sum[i] += carry;
		r.v[i] = (uint64_t)sum[i] & LIMB;
		carry = (uint64_t)(sum[i] >> 51);
	}
	r.v[0] += 19 * carry;
	r.v[1] += r.v[0] >> 51;
	r.v[0] &= LIMB;
	return r;
}

static inline struct field multiply(struct field a, struct field b)
{
	wide sum[5];

#pragma GCC unroll 5
	for (int i = 0; i < 5; i++) {
		sum[i] = 0;
#pragma GCC unroll 5
		for (int k = 0; k < 5; k++)
			sum[i] += (wide)a.v[k] * (k <= i ? b.v[i - k] : 19 * b.v[i - k + 5]);
	}
	return carry_sums(sum);
}

/* Squares need fewer products: those of different limbs count twice. */
static inline struct field square(struct field a)
{
	wide sum[5];
	uint64_t a0 = 2 * a.v[0], a1 = 2 * a.v[1], a3 = 19 * a.v[3], a4 = 19 * a.v[4];

	sum[0] = (wide)a.v[0] * a.v[0] + (wide)a1 * a4 + (wide)(2 * a.v[2]) * a3;
	sum[1] = (wide)a0 * a.v[1] + (wide)(2 * a.v[2]) * a4 + (wide)a.v[3] * a3;
	sum[2] = (wide)a0 * a.v[2] + (wide)a.v[1] * a.v[1] + (wide)(2 * a.v[3]) * a4;
	sum[3] = (wide)a0 * a.v[3] + (wide)a1 * a.v[2] + (wide)a.v[4] * a4;
	sum[4] = (wide)a0 * a.v[4] + (wide)a1 * a.v[3] + (wide)a.v[2] * a.v[2];
	return carry_sums(sum);
}

static inline struct field square_times(struct field a, int times)
{
	while (times-- > 0)
		a = square(a);
	return a;
}

/* a to the power of 2^250 - 1, and to that of 11: what both of the following need. */
static inline struct field raise_to_ones(struct field a, struct field *ret_eleven)
{
	struct field two = square(a), nine = multiply(a, square_times(two, 2));
	struct field eleven = multiply(two, nine), ones5 = multiply(nine, square(eleven));
	struct field ones10 = multiply(square_times(ones5, 5), ones5);
	struct field ones20 = multiply(square_times(ones10, 10), ones10);
	struct field ones40 = multiply(square_times(ones20, 20), ones20);
	struct field ones50 = multiply(square_times(ones40, 10), ones10);
	struct field ones100 = multiply(square_times(ones50, 50), ones50);
	struct field ones200 = multiply(square_times(ones100, 100), ones100);

	*ret_eleven = eleven;
	return multiply(square_times(ones200, 50), ones50);
}

/* To the power of p - 2 = 2^255 - 21. */
static inline struct field invert(struct field a)
{
	struct field eleven, ones = raise_to_ones(a, &eleven);

	return multiply(square_times(ones, 5), eleven);
}

/* To the power of (p - 5) / 8 = 2^252 - 3. */
static inline struct field power_for_root(struct field a)
{
	struct field eleven, ones = raise_to_ones(a, &eleven);

	return multiply(square_times(ones, 2), a);
}

static inline struct field load_field(const uint8_t p[32])
{
	struct field r = { { 0 } };

	for (int bit = 0; bit < 255; bit++)
		r.v[bit / 51] |= (uint64_t)(p[bit / 8] >> bit % 8 & 1) << bit % 51;
	return r;
}

/* The one representation below p. */
static inline void store_field(struct field a, uint8_t ret[32])
{
	uint64_t over;

	a = carry_limbs(carry_limbs(a));
	/* Is it p or more? Then adding 19 carries out of the last limb. */
	over = (a.v[0] + 19) >> 51;
	for (int i = 1; i < 5; i++)
		over = (a.v[i] + over) >> 51;
	a.v[0] += 19 * over;
	for (int i = 0; i < 4; i++) {
		a.v[i + 1] += a.v[i] >> 51;
		a.v[i] &= LIMB;
	}
	a.v[4] &= LIMB;
	memset(ret, 0, 32);
	for (int bit = 0; bit < 255; bit++)
		ret[bit / 8] |= (uint8_t)((a.v[bit / 51] >> bit % 51 & 1) << bit % 8);
}

static inline bool is_equal(struct field a, struct field b)
{
	uint8_t x[32], y[32];

	store_field(a, x);
	store_field(b, y);
	return memcmp(x, y, sizeof(x)) == 0;
}

static inline struct point add_points(const struct point *p, const struct point *q)
{
	struct field a = multiply(subtract(p->y, p->x), subtract(q->y, q->x));
	struct field b = multiply(add(p->y, p->x), add(q->y, q->x));
	struct field c = multiply(multiply(p->t, curve_2d), q->t);
	struct field d = multiply(p->z, add(q->z, q->z));
	struct field e = subtract(b, a), f = subtract(d, c), g = add(d, c), h = add(b, a);

	return (struct point){ multiply(e, f), multiply(g, h), multiply(f, g), multiply(e, h) };
}

static inline struct point double_point(const struct point *p)
{
	struct field a = square(p->x), b = square(p->y), c = square(p->z);
	struct field h = add(a, b), e = subtract(h, square(add(p->x, p->y)));
	struct field g = subtract(a, b), f = add(add(c, c), g);

	return (struct point){ multiply(e, f), multiply(g, h), multiply(f, g), multiply(e, h) };
}

static inline struct point add_ready(const struct point *p, const struct ready_point *q)
{
	struct field a = multiply(subtract(p->y, p->x), q->difference);
	struct field b = multiply(add(p->y, p->x), q->sum);
	struct field c = multiply(p->t, q->product), d = add(p->z, p->z);
	struct field e = subtract(b, a), f = subtract(d, c), g = add(d, c), h = add(b, a);

	return (struct point){ multiply(e, f), multiply(g, h), multiply(f, g), multiply(e, h) };
}

#endif
