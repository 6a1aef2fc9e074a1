#ifndef AB_BASE_SYSTEM_ADDR_H
#define AB_BASE_SYSTEM_ADDR_H
/* An IP address as bytes. */
#include <stdbool.h>
#include <stdint.h>

struct ab_addr {
	bool v6;
	uint8_t addr[16]; /* IPv4 in the first four, the rest zero */
};

#endif
