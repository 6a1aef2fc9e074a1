#include "terminal/csi.h"

#include "tap.h"

static struct ab_csi read_csi(const char *text)
{
	struct ab_csi csi = { 0 };

	for (; *text; text++)
		ab_csi_take(&csi, (unsigned char)*text);
	return csi;
}

static void test_parts(void)
{
	struct ab_csi csi = read_csi("?12;;99999:7$");

	ok(csi.marker == '?' && csi.inter == '$', "the marker and the intermediate byte");
	ok(csi.nparams == 4 && !csi.many, "a semicolon and a colon separate parameters");
	ok(ab_csi_param(&csi, 0) == 12 && ab_csi_param(&csi, 1) == 0, "an empty one is zero");
	ok(ab_csi_param(&csi, 2) == UINT16_MAX, "a large one stays the largest");
	ok(ab_csi_param(&csi, 9) == 0, "one that is not given is zero");
	ok(ab_csi_has(&csi, 7) && !ab_csi_has(&csi, 8), "is it there?");
	csi = read_csi("");
	ok(csi.nparams == 0 && !ab_csi_has(&csi, 0), "a sequence may have none");
}

static void test_malformed(void)
{
	ok(read_csi("1?").marker == AB_CSI_MALFORMED, "a marker behind a parameter");
	ok(read_csi("??").marker == AB_CSI_MALFORMED, "two markers");
	ok(read_csi("$1").marker == AB_CSI_MALFORMED, "a parameter behind an intermediate byte");
	ok(read_csi("$$").inter == AB_CSI_MALFORMED, "two intermediate bytes");
}

static void test_many(void)
{
	struct ab_csi csi = { 0 };

	for (size_t i = 0; i < 3 * AB_CSI_PARAMS; i++) {
		ab_csi_take(&csi, i < AB_CSI_PARAMS ? '1' : '5');
		ab_csi_take(&csi, ';');
	}
	ok(csi.many && csi.nparams == AB_CSI_PARAMS, "more than fit are noted");
	ok(!ab_csi_has(&csi, 5) && csi.params[AB_CSI_PARAMS - 1] == 1, "and discarded");
}

int main(void)
{
	test_parts();
	test_malformed();
	test_many();
	return done();
}
