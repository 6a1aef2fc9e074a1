#ifndef AB_PROXY_RECORD_LEDGER_STATE_H
#define AB_PROXY_RECORD_LEDGER_STATE_H
/*
 * The state of a ledger. Private to ledger*.c.
 */
#include "base/data/buf.h"
#include "proxy/record/ledger.h"

enum {
	AB_LEDGER_REMEMBERED = 4096,
	AB_LEDGER_SLOTS = 2 * AB_LEDGER_REMEMBERED, /* a power of two */
};

struct ab_denial {
	uint64_t hash;
	char *host, *reason, *hint;
	char *cause; /* the reason without an answer: a part of its identity */
	char *entry; /* of the deny list, or NULL */
	char *from;  /* where it was set, or NULL */
	char *who;   /* the nearest process, or NULL */
	const char *rule;
	enum ab_basis basis;
	enum ab_fault fault;
	enum ab_reply reply;
	bool sought;	   /* its process was asked for */
	enum ab_door door; /* AB_DOOR_COUNT: packets */
	uint16_t port;
	uint64_t count; /* in total; 0: it was only asked about */
	uint64_t held;	/* of these, not written yet */
	uint64_t minute;
	unsigned int lines; /* written in it */
};

struct ab_ledger {
	char run_id[8];
	struct ab_log *log;
	struct ab_buf line; /* reused for each record */
	struct ab_denial *v;
	size_t len, room;
	uint16_t slots[AB_LEDGER_SLOTS]; /* numbers; 0: empty */
	size_t nslots;			 /* used ones */
	struct ab_denial others;	 /* all denials that are not remembered */
	uint64_t minute;
	unsigned int lines;    /* written in it, of all denials */
	uint32_t last;	       /* number */
	uint32_t unremembered; /* number of denials that are not remembered */
	uint64_t seed;
	uint64_t packets;
	struct ab_ledger_totals totals;
};

#endif
