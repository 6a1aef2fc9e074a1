#pragma once
/*
 * The network of a box that has no network namespace of its own.
 *
 * The filter holds the calls that make, bind and connect sockets (AB_FILTER_SOCKETS). The guard makes
 * each socket itself, hands it in, and keeps a copy. At connect() it connects the copy to a
 * listener of its own, and hands the other end to the proxy with the address that was asked for
 * (netns/destination.h). So options, other descriptors of the same socket and children that have it are
 * as with a connection that the kernel made; only getpeername() shows 127.0.0.1.
 *
 * What confines, whatever the guard answers and whatever another thread changes meanwhile:
 *
 *	TCP		Landlock: the box itself may neither bind nor connect
 *	datagrams	every socket is corked: what the box writes is queued and never sent. The
 *			filter refuses the option that would take the cork out. The guard sends
 *			in its place, from a socket that the box does not have.
 *	both		are bound to the loopback device; without capabilities nobody can change that
 *	Unix		the guard opens the socket file and connects to that (guard/connect)
 *
 * So no answer of the guard that lets the kernel carry out a call permits anything.
 *
 * A server of the box listens on the machine's loopback device, where programs outside the box can
 * connect to it as well. The box reaches its own servers there and no others: those whose address,
 * port and inode are of a socket that it made.
 */
#include "base/base.h"
#include "guard/connect/connect.h"
#include "guard/sockets/inet.h"

struct ab_call_handler;

struct ab_socket_terms {
	struct ab_connect_terms connects;
	struct ab_inet_terms inet;
};

/* The guard's handler, in the place of ab_connect_handler(). The terms live longer. */
struct ab_call_handler ab_sockets_handler(const struct ab_socket_terms *terms);
