#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

/* The request of a run while it is built. */
struct building {
	const struct ab_run_options *options;
	json_t *request;
	int fds[4];
	size_t nfds;
	struct ab_fault *fault;
};

static int add_number(struct building *b, const char *key, uint64_t n)
{
	return n ? json_object_set_new(b->request, key, json_integer((json_int_t)n)) : 0;
}

static int add_flag(struct building *b, const char *key, bool set)
{
	return set ? json_object_set_new(b->request, key, json_true()) : 0;
}

static int add_fd(struct building *b, const char *key, int fd)
{
	b->fds[b->nfds] = fd;
	return json_object_set_new(b->request, key, json_pack("{s:i}", "fd", (int)b->nfds++));
}

static int add_stream(struct building *b, size_t i)
{
	static const char *const names[] = { "stdin", "stdout", "stderr" };
	static const struct {
		int fd;
		unsigned streams; /* bits */
		const char *word;
	} words[] = {
		{ AB_STDIO_NULL, 7, "null" },	    { AB_STDIO_PIPE, 1, "pipe" },
		{ AB_STDIO_CAPTURE, 6, "capture" }, { AB_STDIO_STREAM, 6, "stream" },
		{ AB_STDIO_STDOUT, 4, "stdout" },
	};
	const struct ab_run_options *o = b->options;
	int fd = i == 0 ? o->in : i == 1 ? o->out : o->err;

	if (fd == AB_STDIO_DEFAULT && i == 0 && o->input) {
		json_t *bytes = ab_client_base64(o->input, o->input_len);
		json_t *object = bytes ? json_pack("{s:o}", "base64", bytes) : NULL;

		return object ? json_object_set_new(b->request, names[i], object) : -1;
	}
	if (fd == AB_STDIO_DEFAULT)
		return 0;
	if (fd > 0 || fd == AB_STDIO_FD0)
		return add_fd(b, names[i], fd > 0 ? fd : 0);
	for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++)
		if (words[k].fd == fd && (words[k].streams & 1u << i))
			return json_object_set_new(b->request, names[i],
						   json_string(words[k].word));
	return ab_client_fail(b->fault, AB_FAULT_USAGE, 0, "invalid %s: %d", names[i], fd) - 1;
}

static int add_records(struct building *b, const struct ab_callbacks *callbacks)
{
	if (b->options->records_fd > 0)
		return add_fd(b, "records", b->options->records_fd);
	return add_flag(b, "records", callbacks->record != NULL);
}

/* -1: out of memory; -2: *fault says what is wrong. */
static int add_members(struct building *b, const struct ab_callbacks *callbacks)
{
	const struct ab_run_options *o = b->options;
	int result;

	if (!ab_client_utf8(o->name) || !ab_client_utf8(o->shell_path))
		return ab_client_fail(b->fault, AB_FAULT_USAGE, 0,
				      "the name or the shell's path is not UTF-8") -
		       1;
	for (size_t i = 0; i < 3; i++) {
		result = add_stream(b, i);
		if (result < 0)
			return result;
	}
	if ((o->shell_path &&
	     json_object_set_new(b->request, "shell_path", json_string(o->shell_path)) < 0) ||
	    (o->name && json_object_set_new(b->request, "name", json_string(o->name)) < 0) ||
	    add_number(b, "capture_max", o->capture_max) < 0 ||
	    add_number(b, "deadline_ms", o->deadline_ms) < 0 ||
	    add_number(b, "pool", ab_client_pool_number(o->pool)) < 0 ||
	    add_number(b, "ask_ms", o->question_ms) < 0 || add_flag(b, "yes", o->yes) < 0 ||
	    add_flag(b, "trace_denials", o->trace_denials) < 0 ||
	    add_flag(b, "require_covered", o->require_covered) < 0 ||
	    add_flag(b, "ask", callbacks->question != NULL) < 0 ||
	    add_flag(b, "messages", callbacks->message != NULL) < 0 ||
	    add_records(b, callbacks) < 0)
		return -1;
	return 0;
}

static struct ab_proc *make_proc(struct ab_manager *m, const struct ab_callbacks *from)
{
	struct ab_proc *proc = calloc(1, sizeof(*proc));

	if (!proc)
		return NULL;
	proc->manager = m;
	if (from)
		memcpy(&proc->callbacks, from,
		       from->size < sizeof(proc->callbacks) ? from->size : sizeof(proc->callbacks));
	return proc;
}

/* It ends at once, and its callback is called as for any other. */
static int start_noop(struct ab_manager *m, struct ab_proc *proc, struct ab_fault *fault)
{
	struct ab_event *event = calloc(1, sizeof(*event));

	if (event)
		event->json = json_pack("{s:s,s:I,s:{s:i}}", "event", "exit", "run",
					(json_int_t)m->id + 1, "result", "exit", m->noop_exit);
	if (!event || !event->json) {
		free(event);
		return ab_client_memory(fault);
	}
	pthread_mutex_lock(&m->lock);
	proc->number = ++m->id;
	json_object_set_new(event->json, "run", json_integer((json_int_t)proc->number));
	proc->next = m->procs;
	m->procs = proc;
	ab_client_queue(m, event);
	pthread_cond_broadcast(&m->moved);
	pthread_mutex_unlock(&m->lock);
	return 0;
}

/* The policy of the manager is that of the pool already. */
static void drop_policy(json_t *request, const struct ab_policy_options *own)
{
	static const char *const fixed[] = { "policy",	  "policy_file", "profile",
					     "workspace", "project",	 "options" };

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		json_object_del(request, fixed[i]);
	if (!own->cwd)
		json_object_del(request, "cwd");
	if (!own->env)
		json_object_del(request, "env");
}

static int check_pool(const struct ab_manager *m, const struct ab_run_options *o,
		      const struct ab_policy_options *p, struct ab_fault *fault)
{
	if (!o->pool)
		return 0;
	if (!ab_client_pool_of(o->pool, m))
		return ab_client_fail(fault, AB_FAULT_USAGE, 0,
				      "the pool belongs to another manager");
	if (p->policy || p->policy_file || p->profile || p->workspace || p->no_project ||
	    p->nsettings)
		return ab_client_fail(fault, AB_FAULT_USAGE, 0,
				      "the policy of a run in a pool is that of the pool: only cwd "
				      "and env can be given");
	return 0;
}

static int start_proc(struct ab_manager *m, const struct ab_run_options *o, struct ab_proc *proc,
		      struct ab_fault *fault)
{
	struct building b = { .options = o, .fault = fault };
	struct ab_policy_options own = { 0 };
	int result;

	if ((o->policy &&
	     ab_client_options(&own, sizeof(own), o->policy, o->policy->size, fault) < 0) ||
	    check_pool(m, o, &own, fault) < 0)
		return -1;
	b.request = ab_client_request(m, "run", o->argv, o->shell, o->policy, fault);
	if (!b.request)
		return -1;
	if (o->pool)
		drop_policy(b.request, &own);
	result = add_members(&b, &proc->callbacks);
	if (result == 0 && !m->noop)
		return ab_client_ask(m, b.request, b.fds, b.nfds, proc, NULL, fault);
	json_decref(b.request);
	if (result == -1)
		return ab_client_memory(fault);
	return result < 0 ? -1 : start_noop(m, proc, fault);
}

int ab_manager_run(struct ab_manager *m, const struct ab_run_options *from, struct ab_proc **ret,
		   struct ab_fault *fault)
{
	struct ab_run_options o = { 0 };
	struct ab_proc *proc;

	if (ab_client_options(&o, sizeof(o), from, from->size, fault) < 0 ||
	    (o.callbacks && o.callbacks->size == 0 && ab_client_unsized(fault) < 0))
		return -1;
	proc = make_proc(m, o.callbacks);
	if (!proc)
		return ab_client_memory(fault);
	/* Before a callback can give the handle to a thread that frees it. */
	ab_client_ref(m);
	*ret = proc;
	if (start_proc(m, &o, proc, fault) == 0)
		return 0;
	*ret = NULL;
	free(proc);
	ab_client_unref(m);
	return -1;
}

int ab_proc_wait(struct ab_proc *proc, int timeout_ms, const struct ab_outcome **ret,
		 struct ab_fault *fault)
{
	struct ab_manager *m = proc->manager;
	int64_t until = ab_client_until(timeout_ms);
	int result = 1;

	if (ab_client_in_callback(m))
		return ab_client_fail(fault, AB_FAULT_USAGE, 0, "a callback cannot wait for a run");
	pthread_mutex_lock(&m->lock);
	/* `called`: its last callback still runs. */
	while (result && (!proc->outcome || proc->called)) {
		if (ab_client_deliver(m))
			continue;
		/* Another thread delivers, and announces what it has done. */
		if (m->delivering)
			result = ab_client_await(m, until);
		else if (m->dead || ab_client_read(m, until) < 0)
			proc->outcome = m->first ? NULL : &ab_client_lost;
		else
			result = until < 0 || ab_client_now() < until || m->first;
	}
	result = proc->outcome != NULL;
	if (result && ret)
		*ret = proc->outcome;
	pthread_mutex_unlock(&m->lock);
	return result;
}

const struct ab_outcome *ab_proc_outcome(struct ab_proc *proc)
{
	const struct ab_outcome *outcome;

	pthread_mutex_lock(&proc->manager->lock);
	outcome = proc->outcome;
	pthread_mutex_unlock(&proc->manager->lock);
	return outcome;
}

/* A request about the run; NULL: out of memory. */
static json_t *make_request(const struct ab_proc *proc, const char *what)
{
	return json_pack("{s:s,s:I}", "do", what, "run", (json_int_t)proc->number);
}

static int ask_proc(struct ab_proc *proc, json_t *request, json_t **ret, struct ab_fault *fault)
{
	struct ab_manager *m = proc->manager;
	bool gone;

	pthread_mutex_lock(&m->lock);
	gone = m->noop || m->dead || m->sock < 0;
	pthread_mutex_unlock(&m->lock);
	if (gone) {
		json_decref(request);
		return ab_client_fail(fault, AB_FAULT_NOT_FOUND, 0, "the run has ended");
	}
	return ab_client_ask(m, request, NULL, 0, NULL, ret, fault);
}

int ab_proc_write(struct ab_proc *proc, const void *data, size_t len, bool eof,
		  struct ab_fault *fault)
{
	enum { PART = 1 << 20 };
	size_t done = 0;

	do {
		size_t n = len - done < PART ? len - done : PART;
		json_t *request = make_request(proc, "input");
		json_t *bytes = ab_client_base64((const char *)data + done, n);
		bool last = done + n == len;

		if (!request || !bytes || json_object_set_new(request, "base64", bytes) < 0 ||
		    (last && eof && json_object_set_new(request, "eof", json_true()) < 0)) {
			if (!request)
				json_decref(bytes);
			json_decref(request);
			return ab_client_memory(fault);
		}
		if (ask_proc(proc, request, NULL, fault) < 0)
			return -1;
		done += n;
	} while (done < len);
	return 0;
}

int ab_proc_signal(struct ab_proc *proc, int signal, struct ab_fault *fault)
{
	json_t *request = make_request(proc, "signal");

	if (request)
		(void)json_object_set_new(request, "signal", json_integer(signal));
	return ask_proc(proc, request, NULL, fault);
}

int ab_proc_stop(struct ab_proc *proc, unsigned grace_ms, struct ab_fault *fault)
{
	json_t *request = make_request(proc, "stop");

	if (request)
		(void)json_object_set_new(request, "grace_ms", json_integer(grace_ms));
	return ask_proc(proc, request, NULL, fault);
}

int ab_proc_answer(struct ab_proc *proc, const char *id, const char *answer, const char *reason,
		   struct ab_fault *fault)
{
	if (!id || !answer || !ab_client_utf8(id) || !ab_client_utf8(answer) ||
	    !ab_client_utf8(reason))
		return ab_client_fail(fault, AB_FAULT_USAGE, 0,
				      "an answer needs the id of a question and a word, in UTF-8");
	return ask_proc(proc,
			json_pack("{s:s,s:I,s:s,s:s,s:s}", "do", "answer", "run",
				  (json_int_t)proc->number, "question", id, "answer", answer,
				  "reason", reason ? reason : ""),
			NULL, fault);
}

static int add_entries(json_t *request, const char *key, const char *const *entries)
{
	json_t *list = json_array();

	if (json_object_set_new(request, key, list) < 0)
		return -1;
	for (size_t i = 0; entries && entries[i]; i++)
		if (json_array_append_new(list, json_string(entries[i])) < 0)
			return -1;
	return 0;
}

static bool are_utf8(const char *const *entries)
{
	for (size_t i = 0; entries && entries[i]; i++)
		if (!ab_client_utf8(entries[i]))
			return false;
	return true;
}

int ab_proc_update(struct ab_proc *proc, const char *const *allow, const char *const *deny,
		   uint64_t for_ms, uint64_t *ret_released, struct ab_fault *fault)
{
	json_t *request, *reply = NULL;

	if (!are_utf8(allow) || !are_utf8(deny))
		return ab_client_fail(fault, AB_FAULT_USAGE, 0, "a host is not UTF-8");
	request = make_request(proc, "update");
	if (!request || add_entries(request, "allow", allow) < 0 ||
	    add_entries(request, "deny", deny) < 0 ||
	    json_object_set_new(request, "for_ms", json_integer((json_int_t)for_ms)) < 0) {
		json_decref(request);
		return ab_client_memory(fault);
	}
	if (ask_proc(proc, request, &reply, fault) < 0)
		return -1;
	if (ret_released)
		*ret_released = (uint64_t)json_integer_value(json_object_get(reply, "released"));
	json_decref(reply);
	return 0;
}

int ab_proc_status(struct ab_proc *proc, char **ret_json, struct ab_fault *fault)
{
	json_t *reply = NULL;
	char *json;

	if (ask_proc(proc, make_request(proc, "status"), &reply, fault) < 0)
		return -1;
	json = ab_client_dump(json_object_get(reply, "status"));
	json_decref(reply);
	if (!json)
		return ab_client_memory(fault);
	*ret_json = json;
	return 0;
}

void ab_proc_free(struct ab_proc *proc)
{
	struct ab_manager *m = proc ? proc->manager : NULL;
	struct ab_proc **at;
	bool active;

	if (!proc)
		return;
	pthread_mutex_lock(&m->lock);
	while (proc->called)
		pthread_cond_wait(&m->moved, &m->lock);
	for (at = &m->procs; *at && *at != proc; at = &(*at)->next)
		;
	if (*at)
		*at = proc->next;
	active = !proc->outcome && !m->noop && !m->dead && m->sock >= 0;
	pthread_mutex_unlock(&m->lock);
	if (active)
		ab_client_tell(m, json_pack("{s:s,s:I,s:i}", "do", "stop", "run",
					    (json_int_t)proc->number, "grace_ms", 0));
	ab_client_outcome_free(proc->own);
	free(proc);
	ab_client_unref(m);
}
