#pragma once
/*
 * Servers of the attack's own: a proxy on loopback that leads to one host, with TLS and a root of its
 * own, and a container engine behind a Unix socket. Nothing leaves the machine. Both lie as hostile
 * servers do, and count what reached them and must not. And what both ends of a connection need.
 *
 * Other users can connect to what listens on loopback. So the proxy has a password, a word that a file
 * of the workspace has, too: a connection that does not say it counts for nothing.
 */
#include "base/base.h"
#include "proxy/io/socket_side.h"

struct ab_tls_site;
struct ab_trial;

#define AB_STAND_IN "stand-in.test"
#define AB_STAND_IN_VARIABLE "STAND_IN_TOKEN" /* a box has another value */
#define AB_STAND_IN_IMAGE "stand-in:1"
#define AB_STAND_IN_HEARD "heard" /* the engine's reply to bytes of a stream */
/* What the host may show beside a signature. */
#define AB_STAND_IN_DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define AB_STAND_IN_SERVICE "s3"
#define AB_STAND_IN_REGION "eu-west-1"

/* The token as a server says it. */
enum ab_spelling { AB_SPELL_PLAIN, AB_SPELL_PART, AB_SPELL_LINES, AB_SPELL_HTML, AB_SPELL_COUNT };
extern const char *const ab_spelled[AB_SPELL_COUNT];

#define AB_WORD_FILE "word"
#define AB_WORD_SIZE 33 /* 128 bits in hexadecimal digits */

struct ab_stand_ins {
	pid_t pid; /* -1: they could not be started */
	struct ab_heard {
		unsigned requests, bytes;
		char signature[65]; /* the last one that came, or "" */
	} * heard;		    /* shared with their processes */
	char word[AB_WORD_SIZE];
};

/* Gives the trial settings that use them; they end with this process. */
void ab_stand_ins_start(struct ab_trial *trial, struct ab_stand_ins *ret);
/* Not every box can have a container filter. false: these settings ask for none. */
bool ab_stand_ins_without_engine(struct ab_trial *trial);
void ab_stand_ins_stop(struct ab_stand_ins *s);

/* Takes over the socket. Everything blocks, for a limited time. */
struct ab_side ab_wire_open(int fd);
/* In the box: ask the proxy for a connection. Its answer is in ret->in. */
bool ab_wire_dial(struct ab_side *ret, const char *to);
bool ab_wire_use_tls(struct ab_side *side, struct ab_tls_site *site, bool server);
bool ab_wire_send(struct ab_side *side, const char *text);
/* Read something. false: the end, or nothing comes. */
bool ab_wire_more(struct ab_side *side);
/* Read a message with its body, whose length is in its head. */
bool ab_wire_message(struct ab_side *side);
