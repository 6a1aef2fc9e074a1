#include "containers/container_filter.h"

#include <jansson.h>

#include "base/process/helper.h"
#include "containers/engine_client.h"
#include "containers/engine_relay.h"
#include "containers/host_engine.h"
#include "host/lock/lockdown.h"
#include "policy/model/policy.h"

/* In the filter's process. */
struct work {
	struct ab_engine_relay relay; /* first */
	const struct ab_host_engine *engine;
	struct ab_source supervisor;
	int sock;
	char moved[600];
};

static const char *find_moved_folder(void *arg)
{
	struct work *w = arg;
	const char *path = ab_host_engine_moved(w->engine);

	if (!path)
		return NULL;
	snprintf(w->moved, sizeof(w->moved), "the folder %.400s is not the one it was at the start",
		 path);
	return w->moved;
}

static int list_containers(void *arg, struct ab_strv *ret)
{
	struct work *w = arg;
	struct ab_error err = { 0 };

	return ab_engine_list(w->relay.engine, w->relay.judge.terms.run, ret, &err);
}

static int tell_supervisor(void *arg, const struct ab_engine_note *note)
{
	struct work *w = arg;
	struct ab_container_note m = { .request = *note };

	return ab_send_fds(w->sock, &m, sizeof(m), NULL, 0);
}

/* A listening socket, or the end of the run. */
static void hear_supervisor(struct ab_source *source, uint32_t events)
{
	struct work *w = source->owner;
	struct ab_error err;
	size_t n = 1;
	int fd = -1;
	char byte;

	(void)events;
	if (ab_recv_fds(w->sock, &byte, 1, &fd, &n, 0) > 0) {
		if (n == 1 && ab_engine_relay_listen(&w->relay, fd, &err) < 0)
			_exit(1);
		return;
	}
	ab_loop_remove(&w->relay.loop, source);
	ab_engine_relay_end(&w->relay);
}

static void sweep_containers(struct work *w)
{
	struct ab_container_note m = { .swept = true };
	struct ab_error err = { 0 };
	size_t removed = 0;

	m.sweep.done =
		ab_engine_sweep(w->relay.engine, w->relay.judge.terms.run, &removed, &err) == 0;
	m.sweep.removed = (unsigned)removed;
	snprintf(m.sweep.text, sizeof(m.sweep.text), "%.500s", err.text);
	(void)ab_send_fds(w->sock, &m, sizeof(m), NULL, 0);
}

/* Not inlined: scripts/check-calls looks for it. */
static __attribute__((noinline)) int serve_box(struct work *w)
{
	struct ab_error err;

	if (ab_loop_run(&w->relay.loop, &err) < 0)
		return 1;
	ab_engine_relay_fini(&w->relay);
	sweep_containers(w);
	return 0;
}

static int serve_filter(int sock, void *arg)
{
	static struct work w;
	const struct ab_container_filter_setup *setup = arg;
	const struct ab_policy *policy = setup->policy;
	char *folder = ab_path_parent(setup->engine->socket);
	struct ab_error err;

	/* From the kernel, which is out of reach later: names in bodies are the box's. */
	json_object_seed(0);
	w.engine = setup->engine;
	w.sock = sock;
	w.relay.engine = setup->engine->socket;
	w.relay.note = tell_supervisor;
	w.relay.arg = &w;
	w.relay.judge = (struct ab_engine_judge){
		.terms = { .run = setup->run,
			   .images = &policy->docker.images,
			   .mounts = setup->engine->mounts,
			   .nmounts = setup->engine->nmounts,
			   .user = setup->engine->user,
			   .bridge = policy->docker.bridge,
			   .publish = policy->docker.publish,
			   .setup_caps = policy->docker.setup_caps,
			   .memory = policy->limits.memory },
		.pull = policy->docker.pull,
		.moved = find_moved_folder,
		.list = list_containers,
		.arg = &w,
	};
	if (ab_engine_relay_init(&w.relay, &err) < 0 ||
	    ab_lock_container_filter(folder, &err) < 0 ||
	    ab_loop_watch(&w.relay.loop, &w.supervisor, sock, hear_supervisor, &w, &err) < 0)
		return 1;
	return serve_box(&w);
}

int ab_container_filter_start(const struct ab_container_filter_setup *setup, struct ab_helper *ret,
			      struct ab_error *err)
{
	const struct ab_helper_setup helper = {
		.name = "agentbox-docker",
		.what = "the container filter",
		.socket = SOCK_SEQPACKET,
		.keep = &setup->claim,
		.nkeep = 1,
		/* They are for the supervisor: when it ends, so does its socket. */
		.signals = AB_HELPER_IGNORES,
		.serve = serve_filter,
		.arg = (void *)(uintptr_t)setup,
	};
	int r = ab_helper_start(&helper, ret, err);

	close(setup->claim);
	return r < 0 ? ab_step(err, "containers") : 0;
}
