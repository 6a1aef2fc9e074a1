#ifndef AB_NETNS_BATCH_H
#define AB_NETNS_BATCH_H
/*
 * What the generator of the netlink messages (generate.c) and those who send
 * them agree on. Private to lib/netns.
 */

/* The numbers of the route messages, in their order. */
enum {
	AB_SEQ_LINK = 1, /* lo up */
	AB_SEQ_ADDR4,	 /* an address that is not a loopback one */
	AB_SEQ_ROUTE4,	 /* every address is local */
	AB_SEQ_ADDR6,
	AB_SEQ_ROUTE6, /* asks for an answer */
};

#define AB_NFT_TABLE "agentbox"
#define AB_NFT_UDP "udp"     /* counter of refused datagrams */
#define AB_NFT_OTHER "other" /* and of all that is no TCP or UDP */

#endif
