#pragma once
/*
 * Constants that the generator of the netlink messages (generate.c) and their
 * senders share. Private to lib/netns.
 */

/* The sequence numbers of the route messages, in order. */
enum {
	AB_SEQ_LINK = 1, /* brings lo up */
	AB_SEQ_ADDR4,	 /* an address other than loopback */
	AB_SEQ_ROUTE4,	 /* makes every address local */
	AB_SEQ_ADDR6,
	AB_SEQ_ROUTE6, /* requests an acknowledgement */
};

#define AB_NFT_TABLE "agentbox"
#define AB_NFT_LOG_GROUP 1   /* to which the kernel sends denied datagrams */
#define AB_NFT_UDP "udp"     /* counter of denied datagrams */
#define AB_NFT_OTHER "other" /* and of packets that are neither TCP nor UDP */
