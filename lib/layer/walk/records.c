#include "layer/walk/records.h"

#include "base/system/new_file.h"
#include "base/text/sha256.h"
#include "layer/walk/look.h"

#define KIND 8
#define SUM 64 /* hexadecimal */
#define FILE_MAX ((size_t)1 << 30)

void ab_record_put(struct ab_buf *b, uint64_t number)
{
	ab_buf_add(b, &number, sizeof(number));
}

void ab_record_put_text(struct ab_buf *b, const char *text)
{
	size_t len = strlen(text);

	ab_record_put(b, len);
	ab_buf_add(b, text, len);
}

void ab_record_put_list(struct ab_buf *b, const struct ab_strv *list)
{
	ab_record_put(b, list->len);
	for (size_t i = 0; i < list->len; i++)
		ab_record_put_text(b, list->v[i]);
}

void ab_record_put_time(struct ab_buf *b, struct timespec t)
{
	ab_record_put(b, (uint64_t)t.tv_sec);
	ab_record_put(b, (uint64_t)t.tv_nsec);
}

void ab_record_put_identity(struct ab_buf *b, const struct ab_identity *id)
{
	ab_record_put(b, id->dev);
	ab_record_put(b, id->ino);
	ab_record_put(b, id->size);
	ab_record_put(b, id->mode);
	ab_record_put_time(b, id->mtime);
	ab_record_put_time(b, id->ctime);
}

static const char *take_bytes(struct ab_record_reader *r, size_t len)
{
	const char *at = r->at;

	if (r->bad || len > r->left) {
		r->bad = true;
		return NULL;
	}
	r->at += len;
	r->left -= len;
	return at;
}

uint64_t ab_record_get(struct ab_record_reader *r)
{
	const char *at = take_bytes(r, sizeof(uint64_t));
	uint64_t number = 0;

	if (at)
		memcpy(&number, at, sizeof(number));
	return number;
}

char *ab_record_get_text(struct ab_record_reader *r)
{
	uint64_t len = ab_record_get(r);
	const char *at = take_bytes(r, len);

	if (at && memchr(at, '\0', len))
		r->bad = true;
	return r->bad ? ab_strdup("") : ab_strndup(at, len);
}

void ab_record_get_list(struct ab_record_reader *r, struct ab_strv *ret)
{
	uint64_t n = ab_record_get(r);

	for (uint64_t i = 0; i < n && !r->bad; i++)
		ab_strv_give(ret, ab_record_get_text(r));
}

struct timespec ab_record_get_time(struct ab_record_reader *r)
{
	struct timespec t;

	t.tv_sec = (time_t)ab_record_get(r);
	t.tv_nsec = (long)ab_record_get(r);
	return t;
}

void ab_record_get_identity(struct ab_record_reader *r, struct ab_identity *ret)
{
	ret->dev = ab_record_get(r);
	ret->ino = ab_record_get(r);
	ret->size = ab_record_get(r);
	ret->mode = (mode_t)ab_record_get(r);
	ret->mtime = ab_record_get_time(r);
	ret->ctime = ab_record_get_time(r);
}

int ab_record_file_save(int dir, const char *name, const char kind[8], const struct ab_buf *records)
{
	ab_autofree char *part = ab_printf("%s.part", name);
	ab_autobuf struct ab_buf all = { 0 };
	char sum[SUM + 1];

	ab_buf_add(&all, kind, KIND);
	ab_buf_add(&all, records->data ? records->data : "", records->len);
	ab_sha256(all.data, all.len, sum);
	ab_buf_add(&all, sum, SUM);
	return ab_new_file_write(dir, name, part, all.data, all.len, AB_NEW_FILE_NO_SYNC);
}

int ab_record_file_load(int dir, const char *name, const char kind[8], char **ret_file,
			struct ab_record_reader *ret)
{
	ab_autoclose int fd = ab_open_same_mount(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	ab_autofree char *data = NULL;
	char sum[SUM + 1];
	size_t len;

	if (fd < 0 || ab_read_all(fd, FILE_MAX, &data, &len) < 0)
		return -1;
	errno = EBADMSG;
	if (len < KIND + SUM || memcmp(data, kind, KIND) != 0)
		return -1;
	ab_sha256(data, len - SUM, sum);
	if (memcmp(data + len - SUM, sum, SUM) != 0)
		return -1;
	*ret = (struct ab_record_reader){ .at = data + KIND, .left = len - KIND - SUM };
	*ret_file = ab_take(data);
	return 0;
}

static const char list_kind[8] ab_unterminated = "ab-held1";

int ab_record_list_load(int dir, const char *name, struct ab_strv *ret)
{
	struct ab_record_reader r;
	ab_autofree char *file = NULL;

	if (ab_record_file_load(dir, name, list_kind, &file, &r) < 0)
		return -1;
	ab_record_get_list(&r, ret);
	if (r.bad)
		ab_strv_fini(ret);
	return r.bad ? ab_errno(EBADMSG) : 0;
}

int ab_record_list_save(int dir, const char *name, const struct ab_strv *list)
{
	ab_autobuf struct ab_buf b = { 0 };

	ab_record_put_list(&b, list);
	return ab_record_file_save(dir, name, list_kind, &b);
}
