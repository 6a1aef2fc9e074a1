#include "terminal/streams.h"

#include <sys/epoll.h>

enum { CHUNK = 256 * 1024, PIPE_SIZE = 1024 * 1024 };

static int fail_stream(int fd, struct ab_error *err)
{
	return ab_fail_step(err, "streams", errno, "relay descriptor %d", fd);
}

/* The relay of another descriptor of the same file, or NULL. */
static const struct ab_stream_relay *find_relay(const struct ab_streams *s, const struct stat *st)
{
	for (size_t i = 0; i < s->nrelays; i++) {
		struct stat other;

		if (fstat(s->relays[i].file, &other) == 0 && other.st_dev == st->st_dev &&
		    other.st_ino == st->st_ino)
			return &s->relays[i];
	}
	return NULL;
}

static int open_relay(struct ab_streams *s, int fd, struct ab_error *err)
{
	struct ab_stream_relay *r = &s->relays[s->nrelays];
	int ends[2];

	r->fd = fd;
	r->file = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (r->file < 0 || pipe2(ends, O_CLOEXEC) < 0) {
		ab_closep(&r->file);
		return fail_stream(fd, err);
	}
	s->nrelays++;
	/* Fewer switches between the command and us; the usual size does, too. */
	(void)fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);
	r->pipe = (struct ab_source){ .fd = ends[0] };
	s->box[fd] = ends[1];
	return fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? fail_stream(fd, err) : 0;
}

/* The command only reads its standard input: init takes the right to write away. */
static int keep_input(struct ab_streams *s, struct ab_error *err)
{
	if ((fcntl(0, F_GETFL) & O_ACCMODE) == O_WRONLY) {
		ab_fail(err, AB_EUSAGE, 0,
			"standard input is a file that is open for writing only");
		return ab_step(err, "streams");
	}
	s->input = fcntl(0, F_DUPFD_CLOEXEC, 3);
	s->start = lseek(0, 0, SEEK_CUR);
	return s->input < 0 || s->start < 0 ? fail_stream(0, err) : 0;
}

int ab_streams_open(struct ab_streams *s, struct ab_error *err)
{
	for (int fd = 0; fd < 3; fd++) {
		const struct ab_stream_relay *same;
		struct stat st;

		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (fd == 0) {
			if (keep_input(s, err) < 0)
				return -1;
			continue;
		}
		if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
			continue;
		same = find_relay(s, &st);
		if (same) {
			s->box[fd] = fcntl(s->box[same->fd], F_DUPFD_CLOEXEC, 3);
			if (s->box[fd] < 0)
				return fail_stream(fd, err);
		} else if (open_relay(s, fd, err) < 0) {
			return -1;
		}
	}
	return 0;
}

void ab_streams_launched(struct ab_streams *s)
{
	ab_close_all(&s->box[0], &s->box[1], &s->box[2]);
}

void ab_streams_take_view(struct ab_streams *s, int fd)
{
	ab_closep(&s->view);
	s->view = fd;
}

/* The command's next write fails, as it would with the file itself. */
static void stop_relay(struct ab_stream_relay *r, int errnum)
{
	r->errnum = errnum;
	ab_source_close(&r->pipe);
}

/* Copy one chunk; false: there is nothing to copy now, or ever. */
static bool copy_chunk(struct ab_stream_relay *r)
{
	static char chunk[CHUNK];
	ssize_t n = read(r->pipe.fd, chunk, sizeof(chunk));

	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0)
		stop_relay(r, n < 0 ? errno : 0);
	else if (ab_write_all(r->file, chunk, (size_t)n) < 0)
		stop_relay(r, errno);
	return n > 0 && r->pipe.fd >= 0;
}

/* One chunk, so that others get their turn. */
static void pipe_ready(struct ab_source *source, uint32_t events)
{
	(void)events;
	copy_chunk(source->owner);
}

int ab_streams_watch(struct ab_streams *s, struct ab_loop *loop, struct ab_error *err)
{
	for (size_t i = 0; i < s->nrelays; i++) {
		struct ab_stream_relay *r = &s->relays[i];

		r->pipe.ready = pipe_ready;
		r->pipe.owner = r;
		if (ab_loop_add(loop, &r->pipe, EPOLLIN, err) < 0)
			return -1;
	}
	return 0;
}

/* Unless the caller, or another process with the same descriptor, moved it meanwhile. */
static void move_input(const struct ab_streams *s)
{
	off_t at = s->view < 0 ? -1 : lseek(s->view, 0, SEEK_CUR);

	if (at >= 0 && at != s->start && lseek(s->input, 0, SEEK_CUR) == s->start)
		lseek(s->input, at, SEEK_SET);
}

void ab_streams_finish(struct ab_streams *s)
{
	for (size_t i = 0; i < s->nrelays; i++)
		while (s->relays[i].pipe.fd >= 0 && copy_chunk(&s->relays[i]))
			;
	if (s->input >= 0)
		move_input(s);
}

void ab_streams_close(struct ab_streams *s)
{
	ab_streams_launched(s);
	for (size_t i = 0; i < s->nrelays; i++)
		ab_close_all(&s->relays[i].pipe.fd, &s->relays[i].file);
	ab_close_all(&s->input, &s->view);
	*s = (struct ab_streams)AB_STREAMS_NONE;
}
