#pragma once
/* The supervisor's side of the network: what must be opened before the lock, the proxy, which
 * starts with the first connection, and its end. */
#include "base/base.h"
#include "base/system/loop.h"
#include "proxy/thread/proxy.h"

struct ab_agent_terms;
struct ab_box;
struct ab_broker;
struct ab_broker_news;
struct ab_log;
struct ab_policy;
struct ab_publish;
struct ab_safe;
struct ab_steering;
struct ab_box_network;

/*
 * Before the lock: published ports, the host's addresses, the upstream proxy. `env` is the
 * caller's. The safe lives longer; its parts for the proxy are moved out of it. *ret is NULL when
 * the policy needs no proxy. `agent` is taken over: what the box may do with keys, or NULL.
 */
int ab_box_network_open(const struct ab_policy *policy, char *const *env, struct ab_safe *safe,
			struct ab_agent_terms *agent, struct ab_box_network **ret,
			struct ab_error *err);

/* Before the lock: notice servers in the box (`listens` below). `init` is the box's pid on the host. */
void ab_box_network_watch_ports(struct ab_box_network *box_network, pid_t init);

/*
 * Watch the box's listeners (`network` is taken over; empty when the box has none). All callbacks
 * run on the loop's thread: `failed` when the proxy has failed, `tripped` when a placeholder was about to be sent to another host, or over plain HTTP
 * (`clear`) to its own, and that ends the run.
 */
struct ab_box_network_watch {
	struct ab_loop *loop;
	const struct ab_box *box;
	const char *run_id;
	uint64_t timeout_ms;	  /* its time limit; 0: none */
	struct ab_broker *broker; /* connects to the ssh agent, reads secrets that hosts reject */
	struct ab_log *log;
	void (*failed)(void *arg, const struct ab_error *err);
	void (*tripped)(void *arg, size_t i, bool clear);
	struct ab_steering *steering; /* gets the other notices of the proxy */
	/* A program listens on a port that is not published; reported until it returns true, once in
	 * a run. */
	bool (*listens)(void *arg, uint16_t port);
	void *arg;
};
int ab_box_network_attach(struct ab_box_network *box_network, struct ab_network *network,
			  const struct ab_box_network_watch *watch, struct ab_error *err);
/*
 * Publish a port of the box while it runs, until it ends. `fd` listens on 127.0.0.1:`host` and is
 * taken over. Fails with the reason.
 */
int ab_box_network_publish(struct ab_box_network *box_network, int fd, uint16_t host, uint16_t port,
			   struct ab_error *err);
/* Those of the policy first; false: there are no more. */
bool ab_box_network_published(const struct ab_box_network *box_network, size_t i,
			      struct ab_publish *ret);
/* To steer it; NULL: there is no proxy, or no network. */
struct ab_proxy *ab_box_network_proxy(const struct ab_box_network *box_network);

/* The listener of the box's ssh agent: the first one is taken over. */
void ab_box_network_serve_agent(struct ab_box_network *box_network, struct ab_fds *fds);
/* The broker's answer about the caller's agent. */
void ab_box_network_agent_dialled(struct ab_box_network *box_network,
				  const struct ab_broker_news *news);
/* After the loop has ended: wait up to `ms` for the proxy's next notices; false: none came. */
bool ab_box_network_hear(struct ab_box_network *box_network, int ms);
/* After the box is gone. Frees it. ret_alarms: alarms that came too late for the loop; with one
 * that ends the run this fails. */
int ab_box_network_close(struct ab_box_network *box_network, struct ab_proxy_report *ret,
			 struct ab_strv *ret_alarms, struct ab_error *err);
