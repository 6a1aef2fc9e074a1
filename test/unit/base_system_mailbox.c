#include "base/system/mailbox.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/data/error.h"
#include "tap.h"

enum { WRITERS = 4, LETTERS = 500 };

static struct ab_mailbox box;

static bool readable(void)
{
	struct pollfd fd = { .fd = box.fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void *write_letters(void *arg)
{
	for (int i = 0; i < LETTERS; i++)
		ab_mailbox_post(&box, *(int *)arg, i, -1, NULL);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[WRITERS];
	int kinds[WRITERS], next[WRITERS] = { 0 }, wrong = 0, got = 0;
	struct ab_letter *letter;

	for (int i = 0; i < WRITERS; i++) {
		kinds[i] = i;
		pthread_create(&threads[i], NULL, write_letters, &kinds[i]);
	}
	while (got < WRITERS * LETTERS) {
		struct pollfd fd = { .fd = box.fd, .events = POLLIN };

		if (poll(&fd, 1, 60000) != 1)
			break;
		while ((letter = ab_mailbox_take(&box)) != NULL) {
			wrong += letter->value != next[letter->kind]++;
			got++;
			free(letter);
		}
	}
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	ok(got == WRITERS * LETTERS, "every letter of four threads arrives");
	ok(wrong == 0, "those of one thread in their order");
	ok(!readable(), "an empty box is not readable");
}

int main(void)
{
	struct ab_error err;
	struct ab_letter *letter;
	int pair[2];

	ok(ab_mailbox_init(&box, &err) == 0, "a mailbox is made");
	ok(!readable() && !ab_mailbox_take(&box), "and is empty");
	ab_mailbox_post(&box, 7, 9, -1, &box);
	ok(readable(), "a letter makes it readable");
	letter = ab_mailbox_take(&box);
	ok(letter && letter->kind == 7 && letter->value == 9 && letter->fd == -1 &&
		   letter->data == &box,
	   "and comes out as it went in");
	free(letter);
	test_threads();
	if (pipe(pair) < 0)
		return 1;
	ab_mailbox_post(&box, 1, 0, pair[1], NULL);
	ab_mailbox_fini(&box);
	ok(fcntl(pair[1], F_GETFD) < 0, "a descriptor that nobody took is closed with the box");
	close(pair[0]);
	return done();
}
