/*
 * Theory of operation.
 *
 * Numbers modulo p = 2^255 - 19 are five limbs of 51 bits, least significant
 * first. A product leaves limbs just above 51 bits, a sum of two of those 52
 * bits; a product takes limbs of up to 54 bits, so sums need no carry, and a
 * difference is carried at once.
 *
 * Points of the curve -x^2 + y^2 = 1 + d x^2 y^2 are (X : Y : Z : T) with
 * x = X/Z, y = Y/Z, T = XY/Z. On this curve one formula adds any two points,
 * equal or not, so there are no branches for special cases.
 *
 * Scalars modulo the order L of the base point are bytes in 64-bit numbers,
 * which leaves room for all carries.
 */
#include "base/sign/ed25519.h"

#include <string.h>

#include "base/sign/sha512.h"

struct field {
	uint64_t v[5];
};

struct point {
	struct field x, y, z, t;
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
static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
				   0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10 };

static struct field carry_limbs(struct field a)
{
	for (int i = 0; i < 4; i++) {
		a.v[i + 1] += a.v[i] >> 51;
		a.v[i] &= LIMB;
	}
	a.v[0] += 19 * (a.v[4] >> 51);
	a.v[4] &= LIMB;
	return a;
}

static struct field add(struct field a, struct field b)
{
	for (int i = 0; i < 5; i++)
		a.v[i] += b.v[i];
	return a;
}

/* a + 4p - b, so that no limb becomes negative. */
static struct field subtract(struct field a, struct field b)
{
	for (int i = 0; i < 5; i++)
		a.v[i] += 4 * (LIMB - (i == 0 ? 18 : 0)) - b.v[i];
	return carry_limbs(a);
}

static struct field multiply(struct field a, struct field b)
{
	unsigned __int128 sum[5];
	struct field r;
	uint64_t carry = 0;

#pragma GCC unroll 5
	for (int i = 0; i < 5; i++) {
		sum[i] = 0;
#pragma GCC unroll 5
		for (int k = 0; k < 5; k++)
			sum[i] += (unsigned __int128)a.v[k] *
				  (k <= i ? b.v[i - k] : 19 * b.v[i - k + 5]);
	}
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

/* a to the power of the number with ones from bit `top` down to `ones_from`, and
 * `low` below. The exponents are public. */
static struct field power(struct field a, int top, int ones_from, unsigned int low)
{
	struct field r = one;

	for (int bit = top; bit >= 0; bit--) {
		r = multiply(r, r);
		if (bit >= ones_from || (low >> bit & 1))
			r = multiply(r, a);
	}
	return r;
}

/* p - 2 = 2^255 - 21: ones down to bit 5, then 01011. */
static struct field invert(struct field a)
{
	return power(a, 254, 5, 0x0b);
}

/* (p - 5) / 8 = 2^252 - 3: ones down to bit 2, then 01. */
static struct field power_for_root(struct field a)
{
	return power(a, 251, 2, 0x01);
}

static struct field load_field(const uint8_t p[32])
{
	struct field r = { { 0 } };

	for (int bit = 0; bit < 255; bit++)
		r.v[bit / 51] |= (uint64_t)(p[bit / 8] >> bit % 8 & 1) << bit % 51;
	return r;
}

/* The one representation below p. */
static void store_field(struct field a, uint8_t ret[32])
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

static bool is_equal(struct field a, struct field b)
{
	uint8_t x[32], y[32];

	store_field(a, x);
	store_field(b, y);
	return memcmp(x, y, sizeof(x)) == 0;
}

static struct point add_points(const struct point *p, const struct point *q)
{
	struct field a = multiply(subtract(p->y, p->x), subtract(q->y, q->x));
	struct field b = multiply(add(p->y, p->x), add(q->y, q->x));
	struct field c = multiply(multiply(p->t, curve_2d), q->t);
	struct field d = multiply(p->z, add(q->z, q->z));
	struct field e = subtract(b, a), f = subtract(d, c), g = add(d, c), h = add(b, a);

	return (struct point){ multiply(e, f), multiply(g, h), multiply(f, g), multiply(e, h) };
}

/* table[index], reading all of it. */
static struct point pick_point(const struct point table[16], unsigned int index)
{
	struct point r = { zero, zero, zero, zero };
	uint64_t *to = (uint64_t *)&r;

	for (unsigned int i = 0; i < 16; i++) {
		const uint64_t *from = (const uint64_t *)&table[i];
		uint64_t mask = 0 - (uint64_t)(((i ^ index) - 1) >> 31);

		for (size_t k = 0; k < sizeof(r) / sizeof(*to); k++)
			to[k] |= from[k] & mask;
	}
	return r;
}

static struct point multiply_point(const struct point *p, const uint8_t scalar[32])
{
	struct point table[16] = { { zero, one, one, zero }, *p }, r = table[0];

	for (int i = 2; i < 16; i++)
		table[i] = add_points(&table[i - 1], p);
	for (int i = 63; i >= 0; i--) {
		struct point part = pick_point(table, scalar[i / 2] >> (i % 2 * 4) & 15);

		for (int k = 0; k < 4; k++)
			r = add_points(&r, &r);
		r = add_points(&r, &part);
	}
	return r;
}

static void store_point(const struct point *p, uint8_t ret[32])
{
	struct field inverse = invert(p->z);
	uint8_t x[32];

	store_field(multiply(p->x, inverse), x);
	store_field(multiply(p->y, inverse), ret);
	ret[31] |= (uint8_t)((x[0] & 1) << 7);
}

/* x^2 = (y^2 - 1) / (d y^2 + 1) */
static bool load_point(const uint8_t p[32], struct point *ret)
{
	struct point r = { .y = load_field(p), .z = one };
	struct field y2 = multiply(r.y, r.y), u = subtract(y2, one);
	struct field v = add(multiply(y2, curve_d), one);
	struct field v3 = multiply(multiply(v, v), v), v7 = multiply(multiply(v3, v3), v), check;
	uint8_t x[32], y[32];

	store_field(r.y, y);
	y[31] |= p[31] & 0x80;
	if (memcmp(y, p, sizeof(y)) != 0) /* y is p or more */
		return false;
	r.x = multiply(multiply(u, v3), power_for_root(multiply(u, v7)));
	check = multiply(v, multiply(r.x, r.x));
	if (is_equal(check, subtract(zero, u)))
		r.x = multiply(r.x, root_of_minus_one);
	else if (!is_equal(check, u))
		return false;
	store_field(r.x, x);
	if ((x[0] & 1) != p[31] >> 7) {
		if (is_equal(r.x, zero))
			return false;
		r.x = subtract(zero, r.x);
	}
	r.t = multiply(r.x, r.y);
	*ret = r;
	return true;
}

/* x modulo the order. `x` is 64 digits to base 256, not carried, and is changed. */
static void reduce_scalar(int64_t x[64], uint8_t ret[32])
{
	int64_t carry;

	for (int i = 63; i >= 32; i--) {
		int k;

		carry = 0;
		for (k = i - 32; k < i - 12; k++) {
			x[k] += carry - 16 * x[i] * order[k - (i - 32)];
			carry = (x[k] + 128) >> 8;
			x[k] -= carry * 256;
		}
		x[k] += carry;
		x[i] = 0;
	}
	carry = 0;
	for (int k = 0; k < 32; k++) {
		x[k] += carry - (x[31] >> 4) * order[k];
		carry = x[k] >> 8;
		x[k] &= 255;
	}
	for (int k = 0; k < 32; k++)
		x[k] -= carry * order[k];
	for (int k = 0; k < 32; k++) {
		x[k + 1] += x[k] >> 8;
		ret[k] = (uint8_t)(x[k] & 255);
	}
}

static void hash_scalar(const struct iovec *parts, size_t n, uint8_t ret[32])
{
	unsigned char hash[64];
	int64_t x[64];

	ab_sha512(parts, n, hash);
	for (int i = 0; i < 64; i++)
		x[i] = hash[i];
	reduce_scalar(x, ret);
	explicit_bzero(hash, sizeof(hash));
	explicit_bzero(x, sizeof(x));
}

/* The scalar of the key in the first half, what makes nonces in the second. */
static void expand_seed(const uint8_t seed[32], unsigned char ret[64])
{
	const struct iovec part = { (void *)seed, 32 };

	ab_sha512(&part, 1, ret);
	ret[0] &= 248;
	ret[31] &= 127;
	ret[31] |= 64;
}

void ab_ed25519_public(const uint8_t seed[AB_ED25519_SEED], uint8_t ret[AB_ED25519_KEY])
{
	unsigned char secret[64];
	struct point p;

	expand_seed(seed, secret);
	p = multiply_point(&base_point, secret);
	store_point(&p, ret);
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(&p, sizeof(p));
}

void ab_ed25519_prepare(const uint8_t seed[AB_ED25519_SEED], const void *once, size_t len,
			struct ab_ed25519_nonce *ret)
{
	unsigned char secret[64];
	struct point p;

	expand_seed(seed, secret);
	hash_scalar((const struct iovec[]){ { secret + 32, 32 }, { (void *)once, len } }, 2,
		    ret->scalar);
	p = multiply_point(&base_point, ret->scalar);
	store_point(&p, ret->point);
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(&p, sizeof(p));
}

void ab_ed25519_finish(const uint8_t seed[AB_ED25519_SEED], const uint8_t key[AB_ED25519_KEY],
		       struct ab_ed25519_nonce *nonce, const void *data, size_t len,
		       uint8_t ret[AB_ED25519_SIGNATURE])
{
	unsigned char secret[64];
	int64_t x[64] = { 0 };
	uint8_t hash[32];

	expand_seed(seed, secret);
	memcpy(ret, nonce->point, 32);
	hash_scalar((const struct iovec[]){ { ret, 32 }, { (void *)key, 32 }, { (void *)data, len } },
		    3, hash);
	/* nonce + hash * secret */
	for (int i = 0; i < 32; i++)
		x[i] = nonce->scalar[i];
	for (int i = 0; i < 32; i++)
		for (int k = 0; k < 32; k++)
			x[i + k] += (int64_t)hash[i] * secret[k];
	reduce_scalar(x, ret + 32);
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(nonce, sizeof(*nonce));
	explicit_bzero(x, sizeof(x));
}

void ab_ed25519_sign(const uint8_t seed[AB_ED25519_SEED], const uint8_t key[AB_ED25519_KEY],
		     const void *data, size_t len, uint8_t ret[AB_ED25519_SIGNATURE])
{
	struct ab_ed25519_nonce nonce;

	ab_ed25519_prepare(seed, data, len, &nonce);
	ab_ed25519_finish(seed, key, &nonce, data, len, ret);
}

static bool is_below_order(const uint8_t scalar[32])
{
	for (int i = 31; i >= 0; i--)
		if (scalar[i] != order[i])
			return scalar[i] < order[i];
	return false;
}

bool ab_ed25519_verify(const uint8_t key[AB_ED25519_KEY], const void *data, size_t len,
		       const uint8_t signature[AB_ED25519_SIGNATURE])
{
	uint8_t hash[32], r[32];
	struct point a, sum, part;

	if (!is_below_order(signature + 32) || !load_point(key, &a))
		return false;
	hash_scalar((const struct iovec[]){ { (void *)signature, 32 },
					    { (void *)key, 32 },
					    { (void *)data, len } },
		    3, hash);
	/* R = S * base - hash * A */
	a.x = subtract(zero, a.x);
	a.t = subtract(zero, a.t);
	part = multiply_point(&a, hash);
	sum = multiply_point(&base_point, signature + 32);
	sum = add_points(&sum, &part);
	store_point(&sum, r);
	return memcmp(r, signature, sizeof(r)) == 0;
}
