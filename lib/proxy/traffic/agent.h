#pragma once
/*
 * The box's ssh agent: a client in the box lists keys of the caller's own agent and
 * has data signed with them, as far as the terms allow (proxy/conn/agent_terms.h).
 * Private to lib/proxy.
 */
#include "proxy/conn/conn.h"

/* A client has connected. Takes the descriptor; `port` means nothing here. */
void ab_agent_open(struct ab_engine *engine, int fd, uint16_t port);
/* The result of setup->dial_agent. Takes the descriptor. */
void ab_agent_dialled(struct ab_engine *engine, uint32_t ticket, int errnum, int fd);
