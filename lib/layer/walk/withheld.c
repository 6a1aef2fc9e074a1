#include "layer/walk/withheld.h"

#include "layer/store/store.h"
#include "layer/walk/records.h"

static const char kind[8] ab_unterminated = "ab-held1";
static const char name[] = "withheld";

static int open_part(const struct ab_layer_set *set)
{
	return ab_layer_set_open(set, "project", O_RDONLY | O_DIRECTORY);
}

int ab_withheld_load(struct ab_strv *ret, const struct ab_layer_set *set)
{
	ab_autoclose int dir = open_part(set);
	struct ab_record_reader r;
	ab_autofree char *file = NULL;

	if (dir < 0 || ab_record_file_load(dir, name, kind, &file, &r) < 0)
		return -1;
	ab_record_get_list(&r, ret);
	if (r.bad) {
		ab_strv_fini(ret);
		return ab_errno(EBADMSG);
	}
	ab_strv_sort(ret);
	return 0;
}

int ab_withheld_save(const struct ab_strv *list, const struct ab_layer_set *set)
{
	ab_autoclose int dir = open_part(set);
	ab_autobuf struct ab_buf b = { 0 };

	if (dir < 0)
		return -1;
	ab_record_put_list(&b, list);
	return ab_record_file_save(dir, name, kind, &b);
}
