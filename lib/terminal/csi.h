#pragma once
/*
 * Reads what is between ESC [ and the final byte of a control sequence: a marker, parameters and an
 * intermediate byte. Of fixed size for any bytes; all zero is the start. Pure.
 */
#include "base/base.h"

/* Control characters that every reader of a terminal's bytes looks for. LEAD: in UTF-8, of 0x80 to
 * 0xbf. */
enum { ENQ = 0x05, BEL = 0x07, CAN = 0x18, SUB = 0x1a, ESC = 0x1b, DEL = 0x7f, LEAD = 0xc2 };

#define AB_CSI_PARAMS 32

struct ab_csi {
	uint8_t marker, inter; /* 0: none; AB_CSI_MALFORMED: the sequence means nothing */
	uint8_t nparams;
	bool many; /* more parameters than fit, which are discarded */
	uint16_t params[AB_CSI_PARAMS];
};

enum { AB_CSI_MALFORMED = 0xff };

/* A byte from 0x20 to 0x3f. */
void ab_csi_take(struct ab_csi *csi, unsigned char c);

/* 0 if it is not given. */
uint16_t ab_csi_param(const struct ab_csi *csi, size_t i);
bool ab_csi_has(const struct ab_csi *csi, uint16_t param);

/* Appends a digit; a number that is too large stays the largest. */
uint16_t ab_csi_digit(uint16_t n, unsigned char c);

/* What a sequence is, for a switch. */
#define AB_CSI_KEY(marker, inter, final) \
	((unsigned int)(marker) << 16 | (unsigned int)(inter) << 8 | (final))
