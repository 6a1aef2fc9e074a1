#ifndef AB_SESSION_CONTROL_H
#define AB_SESSION_CONTROL_H
/*
 * The control socket of a run: how another process of the same user sees and
 * steers it. live/ID/control in the state folder, 0600, SOCK_SEQPACKET; the
 * peer's uid must be ours. The box has no way to it.
 *
 * One packet is one JSON object of at most AB_CONTROL_MAX bytes. The client
 * asks {"v":1,"do":NAME,...}; the answer is {"ok":true,...} or
 * {"ok":false,"error":"...","hint":"..."}. One request is answered before the
 * next is read.
 *
 *	status		"run","name","command":[],"cwd","profile","pid","age_ms",
 *			"pending":N,"network":{...} (see ab_proxy_survey, null
 *			where there is none), "violations":N
 *	pending		{"from":K}: the questions from number K on, at most 100:
 *			"pending":[{"id","domain","port","door","why","age_ms",
 *			"left_ms","process":[{"pid","exe","argv"}]}],
 *			"next": K for the rest, or 0
 *	answer		{"id":"7kq2-1","answer":"once|run|always|no"}: "released":N
 *	allow, deny	{"entry":"x.y:443","for_ms":0}: "released":N. What no
 *			grant can lift (deny list, denied range) is an error
 *	reload		{"cut":false}: "changes":["+ x.y allowed"],"notes":[]
 *	stop		{"grace_ms":5000}: TERM, then KILL; answered at once
 *	follow		answered with "ok", then packets as things happen:
 *			{"event":"asked", as in pending},
 *			{"event":"settled","id","how":"answered|time|gone",
 *			 "released":N}, {"event":"said","text"},
 *			{"event":"end","status":N}; the records themselves are
 *			in the log
 */
#include <stddef.h>

enum { AB_CONTROL_VERSION = 1, AB_CONTROL_MAX = 64 * 1024 };
#define AB_CONTROL_NAME "control"

#endif
