#include "terminal/csi.h"

uint16_t ab_csi_digit(uint16_t n, unsigned char c)
{
	return n < 6000 ? (uint16_t)(n * 10 + (c - '0')) : UINT16_MAX;
}

static void take_param(struct ab_csi *csi, unsigned char c)
{
	if (csi->inter) {
		csi->marker = AB_CSI_MALFORMED;
		return;
	}
	if (csi->nparams == 0)
		csi->nparams = 1;
	if (c < ':' && !csi->many) {
		uint16_t *last = &csi->params[csi->nparams - 1];

		*last = ab_csi_digit(*last, c);
	} else if (c >= ':' && csi->nparams < AB_CSI_PARAMS) {
		csi->nparams++;
	} else {
		csi->many = true;
	}
}

void ab_csi_take(struct ab_csi *csi, unsigned char c)
{
	if (c < 0x30)
		csi->inter = csi->inter ? AB_CSI_MALFORMED : c;
	else if (c < 0x3c)
		take_param(csi, c);
	else /* < = > ? */
		csi->marker = csi->marker || csi->inter || csi->nparams ? AB_CSI_MALFORMED : c;
}

uint16_t ab_csi_param(const struct ab_csi *csi, size_t i)
{
	return i < csi->nparams ? csi->params[i] : 0;
}

bool ab_csi_has(const struct ab_csi *csi, uint16_t param)
{
	for (size_t i = 0; i < csi->nparams; i++)
		if (csi->params[i] == param)
			return true;
	return false;
}
