#pragma once
/*
 * Which ports programs in the box listen on, for the supervisor, which cannot open files once it is
 * locked: the kernel's tables are opened before, and read again through the same descriptors.
 *
 * This is for a message to people and decides nothing. The box can fill the tables; reads are
 * bounded.
 */
#include "base/base.h"

enum { AB_BOX_PORTS = 64 };

struct ab_box_ports {
	int tables[2]; /* IPv4 and IPv6; -1: none */
	uint16_t last[AB_BOX_PORTS];
	size_t nlast;
};

#define AB_BOX_PORTS_NONE            \
	{                            \
		.tables = { -1, -1 } \
	}

/* Before the lock. `init` is the box's, by its pid on the host. */
void ab_box_ports_open(pid_t init, struct ab_box_ports *ret);
void ab_box_ports_fini(struct ab_box_ports *ports);

/*
 * A port that a program listens on now and did at the last look, so that a server of a moment is
 * not mentioned; 0: none. Not the proxy's own ports, ports of the range from which the kernel picks
 * one for tests and the like, and those that `skip` names.
 */
uint16_t ab_box_ports_look(struct ab_box_ports *ports, bool (*skip)(const void *arg, uint16_t port),
			   const void *arg);
