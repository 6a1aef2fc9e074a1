#include "containers/docker/engine_reply.h"

#include "base/text/words.h"
#include "containers/docker/body_fields.h"
#include "containers/docker/create_body.h"
#include "containers/docker/refusal.h"

/* What clients look at; the rest describes the host and its other containers. */
static const char info_fields[] =
	"Architecture CgroupDriver CgroupVersion DefaultRuntime Driver "
	"BridgeNfIp6tables BridgeNfIptables CPUSet CPUShares CpuCfsPeriod CpuCfsQuota "
	"IPv4Forwarding MemoryLimit OomKillDisable PidsLimit SwapLimit KernelVersion "
	"MemTotal NCPU OSType OperatingSystem OSVersion SecurityOptions ServerVersion "
	"Swarm";

int ab_reply_info(const char *text, size_t len, struct ab_buf *ret)
{
	json_auto_t *info = json_loadb(text, len, 0, NULL), *reduced = json_object();
	const char *name;
	json_t *value;

	json_object_foreach(info, name, value)
	{
		if (ab_word_listed(info_fields, name, strlen(name)))
			json_object_set(reduced, name, value);
	}
	/* Who is in the swarm is none of the box's business. */
	json_object_set_new(reduced, "Swarm", json_pack("{s:s}", "LocalNodeState", "inactive"));
	return json_is_object(info) ? ab_body_write(reduced, ret) : -1;
}

/* Has it the label of the run? */
static bool keep_container(const json_t *container, const void *run)
{
	const json_t *labels = json_object_get(container, "Labels");
	const char *value = json_string_value(json_object_get(labels, AB_CONTAINER_LABEL));

	return value && strcmp(value, run) == 0;
}

/* Keep elements of the list. */
static int keep_some(const char *text, size_t len, bool (*keep)(const json_t *, const void *),
		     const void *arg, struct ab_buf *ret)
{
	json_auto_t *list = json_loadb(text, len, 0, NULL), *kept = json_array();
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one) if (keep(one, arg)) json_array_append(kept, one);
	return json_is_array(list) ? ab_body_write(kept, ret) : -1;
}

int ab_reply_containers(const char *text, size_t len, const char *run, struct ab_buf *ret)
{
	return keep_some(text, len, keep_container, run, ret);
}

static bool keep_image(const json_t *image, const void *arg)
{
	const struct ab_strv *patterns = arg;
	const json_t *tags = json_object_get(image, "RepoTags"), *tag;
	size_t i;

	json_array_foreach(tags, i, tag)
	{
		ab_autofree char *name =
			json_is_string(tag) ? ab_image_short(json_string_value(tag), false) : NULL;

		for (size_t k = 0; name && k < patterns->len; k++)
			if (ab_image_matches(patterns->v[k], name))
				return true;
	}
	return false;
}

int ab_reply_images(const char *text, size_t len, const struct ab_strv *patterns,
		    struct ab_buf *ret)
{
	return keep_some(text, len, keep_image, patterns, ret);
}

static bool is_hex_id(const char *id)
{
	size_t n = 0;

	while (id && ab_hex((unsigned char)id[n]) >= 0)
		n++;
	return id && n == AB_ENGINE_ID - 1 && !id[n];
}

int ab_reply_id(const char *text, size_t len, char ret[AB_ENGINE_ID])
{
	json_auto_t *reply = json_loadb(text, len, 0, NULL);
	const char *id = json_string_value(json_object_get(reply, "Id"));
	bool good = is_hex_id(id);

	if (good)
		memcpy(ret, id, AB_ENGINE_ID);
	return good ? 0 : -1;
}

int ab_reply_ids(const char *text, size_t len, struct ab_strv *ret)
{
	json_auto_t *list = json_loadb(text, len, 0, NULL);
	bool good = json_is_array(list);
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		const char *id = json_string_value(json_object_get(one, "Id"));

		if (is_hex_id(id))
			ab_strv_add(ret, id);
	}
	return good ? 0 : -1;
}

/* ["a", "b"], or {"a": true, "b": true}: as a list. NULL: neither. */
static json_t *list_values(const json_t *value)
{
	json_t *list = json_array(), *one;
	const char *name;
	bool good = json_is_array(value) || json_is_object(value);
	size_t i;

	json_array_foreach(value, i, one)
	{
		good &= json_is_string(one);
		json_array_append(list, one);
	}
	json_object_foreach((json_t *)(uintptr_t)value, name, one)
	{
		good &= json_is_true(one);
		json_array_append_new(list, json_string(name));
	}
	if (good)
		return list;
	json_decref(list);
	return NULL;
}

int ab_reply_filters(const char *filters, const char *run, struct ab_buf *ret,
		     struct ab_refusal *why)
{
	/* Others could tell something about other containers. */
	static const char known[] = "ancestor exited health id label name status";
	json_auto_t *asked =
		filters && *filters ? ab_body_read(filters, strlen(filters), why) : json_object();
	json_auto_t *made = json_object();
	json_t *value;
	ab_autofree char *own = ab_printf(AB_CONTAINER_LABEL "=%s", run);
	const char *name;
	int r = asked ? 0 : -1;

	json_object_foreach(asked, name, value)
	{
		json_t *list = list_values(value);

		if (list && ab_word_listed(known, name, strlen(name)))
			json_object_set(made, name, list);
		else if (r == 0)
			r = ab_refuse(why, 403, "docker",
				      "the filter does not allow the filter %.60s", name);
		json_decref(list);
	}
	ab_body_append(made, "label", json_string(own));
	return r == 0 ? ab_body_write(made, ret) : r;
}

void ab_reply_message(struct ab_buf *ret, const char *message)
{
	ab_buf_jsonf(ret, "{'message':%s}\n", message);
}
