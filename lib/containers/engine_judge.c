#include "containers/engine_judge.h"

#include "containers/docker/engine_api.h"
#include "containers/docker/refusal.h"

enum { DENIALS_MAX = 64 }; /* that are told apart */

uint32_t ab_engine_judge_number(struct ab_engine_judge *judge, const char *path, const char *reason)
{
	ab_autofree char *key = ab_printf("%s %s", path, reason);
	size_t at = ab_word_at(judge->denials.v, judge->denials.len, key);

	if (at < judge->denials.len)
		return (uint32_t)at + 1;
	/* All the others have one number. */
	if (judge->denials.len == DENIALS_MAX)
		return DENIALS_MAX;
	ab_strv_add(&judge->denials, key);
	return (uint32_t)judge->denials.len;
}

/* Forget those that the engine no longer has, and look again. */
static bool has_room(struct ab_engine_judge *j)
{
	ab_autostrv struct ab_strv ids = { 0 };

	if (!ab_own_is_full(&j->own))
		return true;
	if (j->list(j->arg, &ids) < 0)
		return false;
	for (size_t i = j->own.len; i-- > 0;)
		if (!ab_strv_has(&ids, j->own.v[i].id))
			ab_own_remove(&j->own, j->own.v[i].id);
	return !ab_own_is_full(&j->own);
}

static int judge_create(struct ab_engine_judge *j, struct ab_engine_job *job,
			struct ab_refusal *why)
{
	const char *name = ab_api_param(job->call, "name");

	if (name && !ab_api_is_id(name))
		return ab_refuse(why, 400, "docker", "%.100s is not a name for a container", name);
	if (ab_create_body(job->body, job->body_len, &j->terms, job->ret_body, &job->facts, why) <
	    0)
		return -1;
	if (job->facts.mounts && j->moved(j->arg))
		return ab_refuse(why, 403, "docker.mounts", "%s", j->moved(j->arg));
	if (!has_room(j))
		return ab_refuse(why, 403, "docker", "the run has %d containers: remove some",
				 AB_OWN_MAX);
	job->has_body = true;
	return 0;
}

/* "POST images/create?fromImage=NAME[&tag=TAG]" */
static int judge_pull(struct ab_engine_judge *j, struct ab_engine_job *job, struct ab_refusal *why)
{
	const char *from = ab_api_param(job->call, "fromImage"),
		   *tag = ab_api_param(job->call, "tag"),
		   *platform = ab_api_param(job->call, "platform");
	ab_autofree char *name = ab_printf("%s%s%s", from ? from : "",
					   !tag || !*tag      ? ""
					   : strchr(tag, ':') ? "@"
							      : ":",
					   tag ? tag : ""),
			 *kept = platform && *platform ? ab_strdup(platform) : NULL;

	if (ab_create_check_image(j->terms.images, name, job->facts.image, why) < 0)
		return -1;
	if (!j->pull)
		return ab_refuse(why, 403, "docker.pull",
				 "the engine does not have %.200s, and docker.pull is false",
				 job->facts.image);
	ab_strv_fini(&job->call->params);
	ab_strv_addf(&job->call->params, "fromImage=%s", job->facts.image);
	if (kept)
		ab_strv_addf(&job->call->params, "platform=%s", kept);
	return 0;
}

static int judge_list(struct ab_engine_judge *j, struct ab_engine_job *job, struct ab_refusal *why)
{
	ab_autobuf struct ab_buf filters = { 0 };

	if (ab_reply_filters(ab_api_param(job->call, "filters"), j->terms.run, &filters, why) < 0)
		return -1;
	ab_env_set(&job->call->params, "filters", filters.data);
	return 0;
}

/* As the engine would answer if there were none. */
static int deny_existence(const struct ab_api_call *call, struct ab_refusal *why)
{
	return ab_refuse(why, 404, "", "No such %s: %.128s",
			 strncmp(call->route->path, "exec", 4) == 0 ? "exec instance" : "container",
			 call->id);
}

static int judge_container(struct ab_engine_judge *j, struct ab_engine_job *job,
			   const char **ret_id, struct ab_refusal *why)
{
	const struct ab_own_container *c = ab_own_find(&j->own, job->call->id);
	enum ab_api_use use = job->call->route->use;

	if (!c)
		return deny_existence(job->call, why);
	*ret_id = c->id;
	job->facts.mounts = c->mounts;
	if (use == AB_API_START && c->mounts && j->moved(j->arg))
		return ab_refuse(why, 403, "docker.mounts", "%s", j->moved(j->arg));
	if (use != AB_API_EXEC_CREATE)
		return 0;
	job->has_body = true;
	return ab_exec_body(job->body, job->body_len, c->mounts ? j->terms.user : NULL,
			    job->ret_body, why);
}

static int judge_command(struct ab_engine_judge *j, struct ab_engine_job *job, const char **ret_id,
			 struct ab_refusal *why)
{
	bool detached;

	*ret_id = ab_own_find_command(&j->own, job->call->id);
	if (!*ret_id)
		return deny_existence(job->call, why);
	if (job->call->route->use != AB_API_EXEC_START)
		return 0;
	job->has_body = true;
	if (ab_exec_start_body(job->body, job->body_len, job->ret_body, &detached, why) < 0)
		return -1;
	/* The engine answers a detached start as any other request, and goes on with HTTP. */
	job->streams = !detached;
	return 0;
}

int ab_engine_judge_request(struct ab_engine_judge *j, struct ab_engine_job *job,
			    struct ab_refusal *why)
{
	const char *id = "";
	int judged = 0;

	job->streams = job->call->route->streams;
	switch (job->call->route->use) {
	case AB_API_PLAIN:
	case AB_API_INFO:
	case AB_API_IMAGES:
		break;
	case AB_API_LIST:
		judged = judge_list(j, job, why);
		break;
	case AB_API_IMAGE:
		judged = ab_create_check_image(j->terms.images, job->call->id, job->facts.image,
					       why);
		id = job->facts.image;
		break;
	case AB_API_PULL:
		judged = judge_pull(j, job, why);
		break;
	case AB_API_CREATE:
		judged = judge_create(j, job, why);
		break;
	case AB_API_CONTAINER:
	case AB_API_START:
	case AB_API_REMOVE:
	case AB_API_EXEC_CREATE:
		judged = judge_container(j, job, &id, why);
		break;
	case AB_API_EXEC:
	case AB_API_EXEC_START:
		judged = judge_command(j, job, &id, why);
		break;
	}
	if (judged == 0) {
		ab_api_write_target(job->target, job->call, id);
		/* From now on, it is this one. */
		snprintf(job->call->id, sizeof(job->call->id), "%s", id);
	}
	return judged;
}

bool ab_engine_judge_rewrites(const struct ab_api_call *call)
{
	enum ab_api_use use = call->route->use;

	return use == AB_API_INFO || use == AB_API_LIST || use == AB_API_IMAGES ||
	       use == AB_API_CREATE || use == AB_API_EXEC_CREATE;
}

int ab_engine_judge_rewrite(struct ab_engine_judge *j, const struct ab_engine_job *job,
			    const char *body, size_t len, struct ab_buf *ret)
{
	enum ab_api_use use = job->call->route->use;
	char id[AB_ENGINE_ID];

	if (use == AB_API_INFO)
		return ab_reply_info(body, len, ret);
	if (use == AB_API_LIST)
		return ab_reply_containers(body, len, j->terms.run, ret);
	if (use == AB_API_IMAGES)
		return ab_reply_images(body, len, j->terms.images, ret);
	if (ab_reply_id(body, len, id) < 0)
		return -1;
	if (use == AB_API_CREATE)
		ab_own_add(&j->own, id, ab_api_param(job->call, "name"), job->facts.mounts);
	else
		ab_own_add_command(&j->own, id);
	ab_buf_add(ret, body, len);
	return 0;
}

void ab_engine_judge_answered(struct ab_engine_judge *j, const struct ab_engine_job *job,
			      int status)
{
	enum ab_api_use use = job->call->route->use;

	if ((use == AB_API_REMOVE && (status == 204 || status == 200)) ||
	    ((use == AB_API_CONTAINER || use == AB_API_START || use == AB_API_REMOVE) &&
	     status == 404))
		ab_own_remove(&j->own, job->call->id);
}

void ab_engine_judge_fini(struct ab_engine_judge *judge)
{
	ab_own_containers_fini(&judge->own);
	ab_strv_fini(&judge->denials);
}
