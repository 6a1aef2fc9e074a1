#ifndef AB_NETNS_GENERATE_H
#define AB_NETNS_GENERATE_H
/*
 * The generator of the netlink messages, which runs when agentbox is built: messages
 * are added to the current batch, numbered from 1. Any error ends the generator,
 * so a build never contains a wrong message.
 */
#include <stddef.h>

struct nl_msg;

/* The box's own addresses, in addition to loopback. */
#define AB_OWN4 "198.19.255.1"
#define AB_OWN6 "fd61:6765:6e74:626f:ffff::1"

struct address {
	unsigned char bytes[16];
	size_t len;
};

_Noreturn void generate_reject(const char *what);
/* libnl fails only if a message is full. */
void generate_must(int result);
struct nl_msg *generate_begin(int type, int flags);
void generate_end(struct nl_msg *msg);
struct address generate_address(int family, const char *text);

/* generate_nft.c; generate_batch_end() must follow a batch of rules. */
void generate_tproxy(void);
void generate_redirect(void);
void generate_batch_end(void);
/* The request for the counters. */
void generate_question(void);

#endif
