#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/buf.h"
#include "base/data/strv.h"
#include "containers/docker/create_body.h"
#include "containers/docker/engine_reply.h"
#include "containers/docker/refusal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is allowed has the walls, and nothing of the host. */
static void check_result(const struct ab_buf *out)
{
	json_t *made = json_loadb(out->data, out->len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *host = json_object_get(made, "HostConfig"), *mount;
	const char *mode = json_string_value(json_object_get(host, "NetworkMode"));
	size_t i;

	if (!host || !json_is_false(json_object_get(host, "Privileged")) || !mode ||
	    strcmp(mode, "none") != 0 || json_object_get(host, "Binds") ||
	    json_object_get(host, "Devices") || json_object_get(host, "CapAdd") ||
	    json_array_size(json_object_get(host, "CapDrop")) != 1)
		abort();
	json_array_foreach(json_object_get(host, "Mounts"), i, mount)
	{
		const char *source = json_string_value(json_object_get(mount, "Source"));

		if (source && (strcmp(source, "/home/me/p") != 0 ||
			       !json_is_true(json_object_get(mount, "ReadOnly"))))
			abort();
	}
	json_decref(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char pattern[] = "postgres:*";
	static char *patterns[] = { pattern, NULL };
	static const struct ab_mount_source mounts[] = { { "/p", "/home/me/p" } };
	const struct ab_strv images = { patterns, 1 };
	const struct ab_create_terms terms = { .run = "7kq2x",
					       .images = &images,
					       .mounts = mounts,
					       .nmounts = 1,
					       .user = "1000:1000" };
	const char *text = (const char *)data;
	struct ab_buf out = { 0 };
	struct ab_create_facts facts;
	struct ab_refusal why = { 0 };
	char id[AB_ENGINE_ID];

	if (ab_create_body(text, size, &terms, &out, &facts, &why) == 0)
		check_result(&out);
	ab_buf_fini(&out);
	(void)ab_exec_body(text, size, NULL, &out, &why);
	ab_buf_fini(&out);
	(void)ab_reply_info(text, size, &out);
	(void)ab_reply_containers(text, size, "7kq2x", &out);
	(void)ab_reply_images(text, size, &images, &out);
	(void)ab_reply_id(text, size, id);
	ab_buf_fini(&out);
	return 0;
}
