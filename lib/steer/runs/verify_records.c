#include "steer/runs/verify_records.h"

#include "audit/read/collect.h"
#include "audit/read/find.h"
#include "audit/read/reader.h"
#include "audit/write/seal.h"
#include "state/state.h"
#include "steer/client/steer.h"

enum { KEYS_FILE_MOST = 16 << 20 };

struct verifying {
	const struct ab_verify_request *request;
	struct ab_state state;
	struct ab_keys keys;
	const char *path;
};

static void pass_on(void *arg, const struct ab_chain_verdict *verdict)
{
	const struct verifying *v = arg;

	v->request->fn(v->request->arg, v->path, verdict);
}

/* Takes the verifier and the reader over. */
static int feed_lines(struct ab_verifier *verifier, struct ab_reader *reader, bool active,
		      struct ab_error *err)
{
	char file[AB_READER_NAME];
	uint64_t number, lost = 0;
	const char *line;
	size_t len;
	int more;

	while ((more = ab_reader_next(reader, &line, &len, err)) > 0) {
		number = ab_reader_place(reader, file);
		/* Lines that are too long belong to no record. */
		if (reader->lost != lost)
			ab_verifier_add(verifier, file, number - 1, "", 0);
		lost = reader->lost;
		ab_verifier_add(verifier, file, number, line, len);
	}
	number = ab_reader_place(reader, file);
	if (reader->lost != lost)
		ab_verifier_add(verifier, file, number, "", 0);
	else if (ab_reader_lost(reader) != lost)
		ab_verifier_add_part(verifier, file, number + 1);
	ab_verifier_end(verifier, active);
	ab_reader_fini(reader);
	return more;
}

/* A run of this state folder, or NULL: the folder is a copy or another user's, and any process may hold the
 * lock of an active run in it. */
static int verify_run(struct verifying *v, int dir, const struct ab_found_run *own,
		      struct ab_error *err)
{
	/* Look first: a run that ends meanwhile has its end then. */
	bool active = own && ab_find_live(dir);
	struct ab_verifier *verifier;
	struct ab_reader reader;

	if (ab_reader_open(dir, &reader, err) < 0)
		return -1;
	verifier = ab_verifier_new(&v->keys, true, pass_on, v);
	if (own)
		ab_verifier_expect(verifier, own->id);
	return feed_lines(verifier, &reader, active, err);
}

/* Takes the descriptor over. */
static int verify_file(struct verifying *v, int fd, struct ab_error *err)
{
	struct ab_reader reader;

	ab_reader_open_file(fd, &reader);
	return feed_lines(ab_verifier_new(&v->keys, false, pass_on, v), &reader, false, err);
}

static int verify_path(struct verifying *v, const char *path, struct ab_error *err)
{
	ab_autoclose int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	v->path = path;
	if (fd < 0 || fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "open %s", path);
	if (S_ISDIR(st.st_mode))
		return verify_run(v, fd, NULL, err);
	if (!S_ISREG(st.st_mode))
		return ab_fail(err, AB_ESYSTEM, 0, "%s is not a file", path);
	return verify_file(v, ab_take_fd(&fd), err);
}

static int verify_folder(struct verifying *v, const char *folder, struct ab_left_out *ret_left_out,
			 struct ab_error *err)
{
	struct ab_collect *collect;
	struct ab_collected item;
	uint64_t unreadable = 0;

	if (ab_collect_open(folder, &collect, err) < 0)
		return -1;
	while (ab_collect_next(collect, &item)) {
		struct ab_error ignored;

		v->path = item.path;
		if (item.run) {
			unreadable += verify_run(v, item.fd, NULL, &ignored) < 0;
			close(item.fd);
		} else {
			unreadable += verify_file(v, item.fd, &ignored) < 0;
		}
	}
	*ret_left_out = *ab_collect_left_out(collect);
	ret_left_out->closed += unreadable;
	ab_collect_close(collect);
	return 0;
}

static int verify_found(struct verifying *v, const char *run, struct ab_error *err)
{
	ab_auto(ab_found_run_fini) struct ab_found_run found = { .dir = -1 };

	if (ab_find_run(v->state.live, v->state.runs, run, &found, err) < 0)
		return -1;
	return verify_run(v, found.dir, &found, err);
}

static int verify_all(struct verifying *v, struct ab_error *err)
{
	ab_autostrv struct ab_strv ids = { 0 };
	int result = 0;

	if (ab_find_all(v->state.live, v->state.runs, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < ids.len && result == 0; i++)
		result = verify_found(v, ids.v[i], err);
	return result;
}

/* -1 with errno. */
static int add_keys(int fd, struct ab_keys *keys)
{
	ab_autofree char *text = NULL;
	const char *at;
	uint8_t key[AB_ED25519_KEY];
	size_t len;

	if (fd < 0 || ab_read_all(fd, KEYS_FILE_MOST, &text, &len) < 0)
		return -1;
	for (at = text; (at = ab_seal_next_public(at, text + len, key)) != NULL;)
		if (!ab_keys_have(keys, key))
			ab_keys_add(keys, key);
	return 0;
}

static int read_keys(const char *file, struct ab_keys *keys, struct ab_error *err)
{
	ab_autoclose int fd = open(file, O_RDONLY | O_CLOEXEC);
	ab_auto(ab_keys_fini) struct ab_keys found = { 0 };

	if (add_keys(fd, &found) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "read %s", file);
	for (size_t i = 0; i < found.len; i++)
		ab_keys_add(keys, found.v[i]);
	if (found.len)
		return 0;
	ab_fail(err, AB_EUSAGE, 0, "--key %s: no public key (PEM, Ed25519) in this file", file);
	return ab_hint(err, "%s in the state folder of the machine that wrote the records has it",
		       AB_SEAL_PUBLIC);
}

static int load_keys(struct verifying *v, struct ab_error *err)
{
	ab_autoclose int earlier = -1;
	struct ab_seal seal = { 0 };
	int found = ab_seal_read(v->state.root, &seal, err);

	if (found < 0)
		return -1;
	if (found == 0)
		ab_keys_add(&v->keys, seal.key);
	ab_seal_wipe(&seal);
	/* Earlier keys: the file is as private as the key itself. */
	earlier = openat(v->state.root, AB_SEAL_PUBLIC,
			 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	(void)add_keys(earlier, &v->keys);
	return v->request->keys ? read_keys(v->request->keys, &v->keys, err) : 0;
}

/* Is this the name of a file, and not a run? */
static bool is_file_name(const char *what)
{
	const char *dot = strrchr(what, '.');

	return strchr(what, '/') || (dot && strcmp(dot, ".jsonl") == 0);
}

int ab_records_verify(const struct ab_policy_input *input, const struct ab_verify_request *request,
		      struct ab_left_out *ret_left_out, struct ab_error *err)
{
	struct verifying v = { .request = request,
			       .state = { .root = -1, .live = -1, .runs = -1 } };
	int result = -1;

	*ret_left_out = (struct ab_left_out){ 0 };
	if (ab_steer_state(input, &v.state, err) == 0 && load_keys(&v, err) == 0) {
		if (request->folder)
			result = verify_folder(&v, request->folder, ret_left_out, err);
		else if (request->all)
			result = verify_all(&v, err);
		else if (request->what && is_file_name(request->what))
			result = verify_path(&v, request->what, err);
		else
			result = verify_found(&v, request->what, err);
	}
	ab_keys_fini(&v.keys);
	ab_state_fini(&v.state);
	return result;
}
