#include "proxy/filter/ranges.h"

#define V4(a, b, c, d, n, what)                                                               \
	{                                                                                     \
		{ false, { a, b, c, d }, n, 0 }, #a "." #b "." #c "." #d "/" #n " (" what ")" \
	}
#define ONE(a, b, c, d, what)                                                           \
	{                                                                               \
		{ false, { a, b, c, d }, 32, 0 }, #a "." #b "." #c "." #d " (" what ")" \
	}
#define V6(n, text, ...)                              \
	{                                             \
		{ true, { __VA_ARGS__ }, n, 0 }, text \
	}

/* clang-format off */
/* A range comes before the wider ones that contain it. */
const struct ab_range ab_ranges[] = {
	/* Services that hand out a cloud machine's credentials, in whatever
	 * range the cloud has put them. */
	ONE(169, 254, 169, 254, "cloud metadata"),	/* nearly every cloud */
	ONE(169, 254, 170, 2, "cloud metadata"),	/* AWS, containers */
	ONE(169, 254, 170, 23, "cloud metadata"),	/* AWS, pods */
	ONE(169, 254, 42, 42, "cloud metadata"),	/* Scaleway */
	ONE(100, 100, 100, 200, "cloud metadata"),	/* Alibaba */
	ONE(168, 63, 129, 16, "cloud metadata"),	/* Azure */
	ONE(192, 0, 0, 192, "cloud metadata"),		/* Oracle */
	V6(128, "fd00:ec2::254 (cloud metadata)",	/* AWS */
	   0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, 0x54),
	V6(128, "fd00:ec2::23 (cloud metadata)",	/* AWS, pods */
	   0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23),
	V6(128, "fd20:ce::254 (cloud metadata)",	/* Google */
	   0xfd, 0x20, 0x00, 0xce, [14] = 0x02, 0x54),
	V6(128, "fd00:42::42 (cloud metadata)",		/* Scaleway */
	   0xfd, 0x00, 0x00, 0x42, [15] = 0x42),

	V4(0, 0, 0, 0, 8, "this host"),
	V4(10, 0, 0, 0, 8, "private"),
	V4(100, 64, 0, 0, 10, "carrier NAT"),
	V4(127, 0, 0, 0, 8, "loopback"),
	V4(169, 254, 0, 0, 16, "link-local"),
	V4(172, 16, 0, 0, 12, "private"),
	V4(192, 0, 0, 0, 24, "protocol assignments"),
	V4(192, 168, 0, 0, 16, "private"),
	V4(198, 18, 0, 0, 15, "benchmarking"),
	V4(224, 0, 0, 0, 4, "multicast"),
	ONE(255, 255, 255, 255, "broadcast"),
	V4(240, 0, 0, 0, 4, "reserved"),

	V6(128, "::/128 (this host)", 0),
	V6(128, "::1/128 (loopback)", [15] = 1),
	/*
	 * An address that wraps an IPv4 address is unwrapped before it gets
	 * here. Deny it in case one arrives another way.
	 */
	V6(96, "::/96 (IPv4-compatible)", 0),
	V6(96, "::ffff:0:0/96 (IPv4-mapped)", [10] = 0xff, 0xff),
	V6(96, "64:ff9b::/96 (NAT64)", 0x00, 0x64, 0xff, 0x9b),
	V6(48, "64:ff9b:1::/48 (local NAT64)", 0x00, 0x64, 0xff, 0x9b, 0, 1),
	V6(32, "2001::/32 (Teredo)", 0x20, 0x01),
	V6(16, "2002::/16 (6to4)", 0x20, 0x02),
	V6(7, "fc00::/7 (private)", 0xfc),
	V6(10, "fe80::/10 (link-local)", 0xfe, 0x80),
	V6(10, "fec0::/10 (site-local)", 0xfe, 0xc0),
	V6(8, "ff00::/8 (multicast)", 0xff),
};
/* clang-format on */

const size_t ab_range_count = AB_COUNT(ab_ranges);

const struct ab_range *ab_range_find(const struct ab_host *host)
{
	for (size_t i = 0; i < ab_range_count; i++)
		if (ab_cidr_has(&ab_ranges[i].cidr, host, 0))
			return &ab_ranges[i];
	return NULL;
}
