#pragma once
/*
 * The program that started the run answers about its command, over the socket on which it will
 * steer the run (session/control/control_socket.h). One packet is one JSON object:
 *
 *	{"event":"asked","id":"command","left_ms":60000, as in consent/ask/approver.h}
 *	{"v":1,"do":"answer","id":"command","answer":"once|session|always|no","reason":"..."}
 *	{"ok":true}
 *
 * Anything else counts as no: another packet, the end of the socket, a timeout.
 */
#include "base/base.h"

struct ab_approver_reply;

/* `question` is that of ab_approver_request(). */
void ab_controller_ask(int sock, const char *question, size_t len, unsigned timeout_ms,
		       struct ab_approver_reply *ret);
