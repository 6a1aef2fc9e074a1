#include "steer/stay/client_streams.h"

#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "sandbox/mount/stdio_view.h"
#include "sandbox/plan/spec.h"

enum { DATA_ROOM = 65536 };

static const char *const names[] = { "standard input", "standard output", "standard error" };

static int refuse_stream(int fd, const char *what, struct ab_error *err)
{
	ab_fail(err, AB_EUSAGE, 0, "%s is %s, which cannot be passed to a box that exists already",
		names[fd], what);
	ab_hint(err, "pipe its data: cat FILE | agentbox run --in ..., or agentbox run --in ... | "
		     "cat >FILE");
	return ab_step(err, "streams");
}

static void pass_stream(struct ab_client_streams *s, int fd, int as)
{
	snprintf(s->words[fd], sizeof(s->words[fd]), AB_STREAM_PASSED);
	s->passed[s->npassed++] = as;
}

static int feed_input(struct ab_client_streams *s, struct ab_error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make a pipe for standard input");
	s->data = ab_alloc(DATA_ROOM);
	s->feed_end = ends[0];
	s->feed = (struct ab_source){ .fd = ends[1] };
	s->at = s->files.start;
	if (fcntl(ends[1], F_SETFL, O_NONBLOCK) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "make a pipe for standard input");
	pass_stream(s, 0, s->feed_end);
	return 0;
}

static int choose_stream(struct ab_client_streams *s, int fd, struct ab_error *err)
{
	const char *device;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "%s", names[fd]);
	if (isatty(fd)) {
		snprintf(s->words[fd], sizeof(s->words[fd]), AB_STREAM_TERMINAL);
		return 0;
	}
	switch (st.st_mode & S_IFMT) {
	case S_IFIFO:
	case S_IFSOCK:
		pass_stream(s, fd, fd);
		return 0;
	case S_IFREG:
		if (fd == 0)
			return feed_input(s, err);
		if (s->files.box[fd] < 0)
			return refuse_stream(fd, "a file that is open for reading only", err);
		pass_stream(s, fd, s->files.box[fd]);
		return 0;
	case S_IFCHR:
		device = ab_stdio_view_device(st.st_rdev);
		if (!device)
			break;
		snprintf(s->words[fd], sizeof(s->words[fd]), "%s", device);
		return 0;
	}
	return refuse_stream(fd, S_ISDIR(st.st_mode) ? "a folder" : "a device", err);
}

int ab_client_streams_open(struct ab_client_streams *s, struct ab_error *err)
{
	s->files = (struct ab_streams)AB_STREAMS_NONE;
	s->feed.fd = s->feed_end = -1;
	if (ab_streams_open(&s->files, err) < 0)
		return -1;
	for (int fd = 0; fd < 3; fd++)
		if (choose_stream(s, fd, err) < 0)
			return -1;
	return 0;
}

void ab_client_streams_sent(struct ab_client_streams *s)
{
	ab_streams_launched(&s->files);
}

bool ab_client_streams_relay(const struct ab_client_streams *s)
{
	return s->feed.fd >= 0 || s->files.nrelays > 0;
}

/* At the end of the file the command reads the end of its input. */
static void feed_ready(struct ab_source *source, uint32_t events)
{
	struct ab_client_streams *s = source->owner;
	ssize_t n;

	(void)events;
	if (s->from == s->to) {
		n = pread(s->files.input, s->data, DATA_ROOM, s->at);
		if (n <= 0) {
			ab_source_close(source);
			return;
		}
		s->from = 0;
		s->to = (size_t)n;
		s->at += n;
	}
	n = write(source->fd, s->data + s->from, s->to - s->from);
	if (n > 0)
		s->from += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		ab_source_close(source);
}

int ab_client_streams_watch(struct ab_client_streams *s, struct ab_loop *loop, struct ab_error *err)
{
	s->feed.ready = feed_ready;
	s->feed.owner = s;
	if (s->feed.fd >= 0 && ab_loop_add(loop, &s->feed, EPOLLOUT, err) < 0)
		return -1;
	return ab_streams_watch(&s->files, loop, err);
}

/* As if the command had read from the file itself. */
static void move_input(const struct ab_client_streams *s)
{
	int unread = 0;

	if (s->feed_end < 0 || ioctl(s->feed_end, FIONREAD, &unread) < 0)
		return;
	if (lseek(s->files.input, 0, SEEK_CUR) == s->files.start)
		lseek(s->files.input, s->at - (off_t)(s->to - s->from) - unread, SEEK_SET);
}

void ab_client_streams_close(struct ab_client_streams *s)
{
	ab_streams_finish(&s->files);
	move_input(s);
	ab_source_close(&s->feed);
	ab_closep(&s->feed_end);
	ab_streams_close(&s->files);
	free(ab_take(s->data));
}
