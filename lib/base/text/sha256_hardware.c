#include "base/text/sha256_hardware.h"

/* Fractional parts of the cube roots of the first 64 primes. */
const uint32_t ab_sha256_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

/*
 * Both have the schedule in four vectors of four words. In group i, vector i % 4 has words 4i to
 * 4i + 3; then it gets the words of group i + 4.
 */
#if defined(__aarch64__) && (!defined(__clang__) || __clang_major__ >= 16)
/* Older clang has these functions only if every function may use the instructions. */
#include <arm_neon.h>
#include <sys/auxv.h>

#ifndef HWCAP_SHA2
#define HWCAP_SHA2 (1 << 6)
#endif

bool ab_sha256_has_hardware(void)
{
	return getauxval(AT_HWCAP) & HWCAP_SHA2;
}

__attribute__((target("+crypto"))) void ab_sha256_hardware(uint32_t h[8], const unsigned char *p,
							   size_t blocks)
{
	uint32x4_t low = vld1q_u32(h), high = vld1q_u32(h + 4);

	for (; blocks > 0; blocks--, p += 64) {
		uint32x4_t a = low, e = high, w[4];

#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
			w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(p + 16 * i)));
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {
			uint32x4_t words =
				vaddq_u32(w[i % 4], vld1q_u32(ab_sha256_constants + 4 * i));
			uint32x4_t before = a;

			if (i < 12)
				w[i % 4] =
					vsha256su1q_u32(vsha256su0q_u32(w[i % 4], w[(i + 1) % 4]),
							w[(i + 2) % 4], w[(i + 3) % 4]);
			a = vsha256hq_u32(a, e, words);
			e = vsha256h2q_u32(e, before, words);
		}
		low = vaddq_u32(low, a);
		high = vaddq_u32(high, e);
	}
	vst1q_u32(h, low);
	vst1q_u32(h + 4, high);
}

#elif defined(__x86_64__)
#include <immintrin.h>
#include <sys/platform/x86.h>

/* The C library asked the processor when the program started: asking is slow in a virtual machine. */
bool ab_sha256_has_hardware(void)
{
	return CPU_FEATURE_ACTIVE(SHA) && CPU_FEATURE_ACTIVE(SSE4_1) && CPU_FEATURE_ACTIVE(SSSE3);
}

static inline const __m128i *at(const void *p)
{
	return p;
}

/* The instructions want the variables as a b e f and c d g h, the last one in the lowest word. */
__attribute__((target("sha,sse4.1,ssse3"))) void
ab_sha256_hardware(uint32_t h[8], const unsigned char *p, size_t blocks)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
	__m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(at(h)), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(at(h + 4)), 0x1b);
	__m128i abef = _mm_alignr_epi8(badc, efgh, 8), cdgh = _mm_blend_epi16(efgh, badc, 0xf0);

	for (; blocks > 0; blocks--, p += 64) {
		__m128i first = abef, second = cdgh, w[4];

#pragma GCC unroll 4
		for (int i = 0; i < 4; i++)
			w[i] = _mm_shuffle_epi8(_mm_loadu_si128(at(p + 16 * i)), swap);
#pragma GCC unroll 16
		for (int i = 0; i < 16; i++) {
			__m128i words = _mm_add_epi32(
				w[i % 4], _mm_loadu_si128(at(ab_sha256_constants + 4 * i)));

			if (i < 12)
				w[i % 4] = _mm_sha256msg2_epu32(
					_mm_add_epi32(
						_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]),
						_mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4)),
					w[(i + 3) % 4]);
			second = _mm_sha256rnds2_epu32(second, first, words);
			first = _mm_sha256rnds2_epu32(first, second,
						      _mm_shuffle_epi32(words, 0x0e));
		}
		abef = _mm_add_epi32(abef, first);
		cdgh = _mm_add_epi32(cdgh, second);
	}
	abef = _mm_shuffle_epi32(abef, 0x1b); /* f e b a */
	cdgh = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((__m128i *)(void *)h, _mm_blend_epi16(abef, cdgh, 0xf0));
	_mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_alignr_epi8(cdgh, abef, 8));
}

#else

bool ab_sha256_has_hardware(void)
{
	return false;
}

void ab_sha256_hardware(uint32_t h[8], const unsigned char *p, size_t blocks)
{
	(void)h;
	(void)p;
	(void)blocks;
}
#endif
