#include "base/system/mailbox.h"

#include <sys/eventfd.h>

#include "base/data/error.h"
#include "base/data/mem.h"

int ab_mailbox_init(struct ab_mailbox *box, struct ab_error *err)
{
	box->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (box->fd < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "create a mailbox");
	pthread_mutex_init(&box->lock, NULL);
	box->first = NULL;
	box->end = &box->first;
	return 0;
}

void ab_mailbox_post(struct ab_mailbox *box, int kind, int value, int fd, void *data)
{
	struct ab_letter *letter = ab_alloc(sizeof(*letter));
	uint64_t one = 1;

	*letter = (struct ab_letter){ .kind = kind, .value = value, .fd = fd, .data = data };
	pthread_mutex_lock(&box->lock);
	*box->end = letter;
	box->end = &letter->next;
	pthread_mutex_unlock(&box->lock);
	/* Fails only if the counter is full, and then it is already readable. */
	(void)!write(box->fd, &one, sizeof(one));
}

struct ab_letter *ab_mailbox_take(struct ab_mailbox *box)
{
	struct ab_letter *letter;
	uint64_t posted;

	pthread_mutex_lock(&box->lock);
	letter = box->first;
	if (letter) {
		box->first = letter->next;
		if (!box->first)
			box->end = &box->first;
	} else {
		(void)!read(box->fd, &posted, sizeof(posted));
	}
	pthread_mutex_unlock(&box->lock);
	return letter;
}

void ab_mailbox_fini(struct ab_mailbox *box)
{
	struct ab_letter *letter;

	while ((letter = ab_mailbox_take(box)) != NULL) {
		if (letter->fd >= 0)
			close(letter->fd);
		free(letter);
	}
	close(box->fd);
	pthread_mutex_destroy(&box->lock);
}
