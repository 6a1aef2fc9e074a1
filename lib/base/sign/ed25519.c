/*
 * Scalars modulo the order L of the base point are bytes in 64-bit numbers,
 * which leaves room for all carries. What they do to points is in curve.h.
 */
#include "base/sign/ed25519.h"

#include <assert.h>
#include <string.h>

#include "base/sign/curve.h"
#include "base/sign/multiples.h"
#include "base/sign/sha512.h"

static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,	 0xd6,
				   0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, [31] = 0x10 };

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
			r = double_point(&r);
		r = add_points(&r, &part);
	}
	return r;
}

/* table[index], or its negative, reading all of it. */
static struct ready_point pick_ready(const struct ready_point table[AB_COMB_POINTS],
				     unsigned int index, uint64_t negative)
{
	struct ready_point r = { zero, zero, zero }, n;
	uint64_t *to = (uint64_t *)&r, *other = (uint64_t *)&n;

	for (unsigned int i = 0; i < AB_COMB_POINTS; i++) {
		const uint64_t *from = (const uint64_t *)&table[i];
		uint64_t mask = 0 - (uint64_t)(((i ^ index) - 1) >> 31);

		for (size_t k = 0; k < sizeof(r) / sizeof(*to); k++)
			to[k] |= from[k] & mask;
	}
	n = (struct ready_point){ r.difference, r.sum, subtract(zero, r.product) };
	for (size_t k = 0; k < sizeof(r) / sizeof(*to); k++)
		to[k] ^= (to[k] ^ other[k]) & (0 - negative);
	return r;
}

/* An odd number that multiplies the base point in the same way: the scalar, or with the order added. */
static void make_odd(const uint8_t scalar[32], uint8_t ret[33])
{
	unsigned int carry = 0, even = ~(unsigned int)scalar[0] & 1;

	for (int i = 0; i < 32; i++) {
		carry += scalar[i] + (order[i] & (0 - even));
		ret[i] = (uint8_t)carry;
		carry >>= 8;
	}
	ret[32] = (uint8_t)carry;
}

/* Bit i of (odd + 2^AB_COMB_BITS - 1) / 2: 1 stands for +2^i, 0 for -2^i. */
static_assert(AB_COMB_BITS >= 257 && AB_COMB_BITS / 8 < 33, "an odd scalar has 256 bits");
static unsigned int comb_bit(const uint8_t odd[33], unsigned int i)
{
	unsigned int at = i + 1;

	return (odd[at / 8] >> at % 8 & 1) | (at == AB_COMB_BITS);
}

static struct point multiply_base(const uint8_t scalar[32])
{
	struct point r = { zero, one, one, zero };
	uint8_t odd[33];

	make_odd(scalar, odd);
	for (unsigned int column = AB_COMB_SPACING; column-- > 0;) {
		if (column + 1 < AB_COMB_SPACING)
			r = double_point(&r);
		for (unsigned int comb = 0; comb < AB_COMBS; comb++) {
			unsigned int index = 0, top;
			struct ready_point part;

			for (unsigned int tooth = 0; tooth < AB_COMB_TEETH; tooth++)
				index |= comb_bit(odd,
						  (comb * AB_COMB_TEETH + tooth) * AB_COMB_SPACING +
							  column)
					 << tooth;
			top = index >> (AB_COMB_TEETH - 1);
			index = (index ^ (top - 1)) & (AB_COMB_POINTS - 1);
			part = pick_ready(multiples[comb], index, 1 - top);
			r = add_ready(&r, &part);
		}
	}
	explicit_bzero(odd, sizeof(odd));
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
	p = multiply_base(secret);
	store_point(&p, ret);
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(&p, sizeof(p));
}

void ab_ed25519_sign(const uint8_t seed[AB_ED25519_SEED], const uint8_t key[AB_ED25519_KEY],
		     const void *data, size_t len, uint8_t ret[AB_ED25519_SIGNATURE])
{
	unsigned char secret[64];
	int64_t x[64] = { 0 };
	uint8_t nonce[32], hash[32];
	struct point p;

	expand_seed(seed, secret);
	hash_scalar((const struct iovec[]){ { secret + 32, 32 }, { (void *)data, len } }, 2, nonce);
	p = multiply_base(nonce);
	store_point(&p, ret);
	hash_scalar(
		(const struct iovec[]){ { ret, 32 }, { (void *)key, 32 }, { (void *)data, len } },
		3, hash);
	/* nonce + hash * secret */
	for (int i = 0; i < 32; i++)
		x[i] = nonce[i];
	for (int i = 0; i < 32; i++)
		for (int k = 0; k < 32; k++)
			x[i + k] += (int64_t)hash[i] * secret[k];
	reduce_scalar(x, ret + 32);
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(nonce, sizeof(nonce));
	explicit_bzero(x, sizeof(x));
	explicit_bzero(&p, sizeof(p));
}

static bool is_below_order(const uint8_t scalar[32])
{
	for (int i = 31; i >= 0; i--)
		if (scalar[i] != order[i])
			return scalar[i] < order[i];
	return false;
}

/* With a key of small order anybody could sign anything. */
static bool has_small_order(const struct point *p)
{
	struct point r = *p;

	for (int i = 0; i < 3; i++)
		r = double_point(&r);
	return is_equal(r.x, zero) && is_equal(r.y, r.z);
}

bool ab_ed25519_verify(const uint8_t key[AB_ED25519_KEY], const void *data, size_t len,
		       const uint8_t signature[AB_ED25519_SIGNATURE])
{
	uint8_t hash[32], r[32];
	struct point a, sum, part;

	if (!is_below_order(signature + 32) || !load_point(key, &a) || has_small_order(&a))
		return false;
	hash_scalar((const struct iovec[]){ { (void *)signature, 32 },
					    { (void *)key, 32 },
					    { (void *)data, len } },
		    3, hash);
	/* R = S * base - hash * A */
	a.x = subtract(zero, a.x);
	a.t = subtract(zero, a.t);
	part = multiply_point(&a, hash);
	sum = multiply_base(signature + 32);
	sum = add_points(&sum, &part);
	store_point(&sum, r);
	return memcmp(r, signature, sizeof(r)) == 0;
}
