#include "steer/stay/kept_boxes.h"

#include "policy/layers/layers.h"
#include "steer/stay/enter.h"

static void add_kept(struct ab_run *run, void *arg)
{
	struct ab_strv *names = arg;
	ab_autofree char *name = ab_run_name(run);

	if (ab_run_stays(run))
		ab_strv_add(names, name ? name : run->id);
}

int ab_kept_boxes(const struct ab_policy_input *input, struct ab_strv *ret, struct ab_error *err)
{
	ab_auto(ab_state_fini) struct ab_state state = AB_STATE_NONE;

	if (ab_steer_state(input, &state, err) < 0)
		return -1;
	(void)ab_state_each_live(&state, add_kept, ret);
	return 0;
}

/* Name the boxes that could have been meant. */
static int hint_kept(const struct ab_state *state, const char *box, struct ab_error *err)
{
	ab_autostrv struct ab_strv names = { 0 };
	ab_autofree char *list = NULL;

	(void)ab_state_each_live(state, add_kept, &names);
	list = ab_strv_join(&names, ", ");
	if (names.len)
		return ab_hint(err, "boxes that stay: %s", list);
	return ab_hint(err, "no box stays; start one: agentbox run --keep --name %s -- COMMAND",
		       box);
}

/* Only its own user may use a box; the supervisor would close the connection without a word. */
static int check_owner(const struct ab_steer *steer, const char *box, struct ab_error *err)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(steer->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return ab_fail(err, AB_ESYSTEM, errno, "find the owner of box %s", box);
	if (peer.uid == geteuid())
		return 0;
	ab_fail(err, AB_EREFUSED, 0, "box %s belongs to another user (uid %u)", box, peer.uid);
	return ab_hint(err, "start one of your own: agentbox run --keep --name NAME -- COMMAND");
}

int ab_kept_box_open(const struct ab_policy_input *input, const char *box, struct ab_kept_box *ret,
		     struct ab_error *err)
{
	ab_auto(ab_run_fini) struct ab_run run = { .dir = -1 };

	ret->steer.fd = -1;
	if (ab_steer_state(input, &ret->state, err) < 0)
		return -1;
	/* A run that does not stay refuses the request itself. */
	if (ab_state_find_live(&ret->state, box, &run, err) < 0)
		hint_kept(&ret->state, box, err);
	else if (ab_steer_open_run(&run, &ret->steer, err) == 0 &&
		 check_owner(&ret->steer, box, err) == 0)
		return 0;
	ab_kept_box_fini(ret);
	return -1;
}

void ab_kept_box_fini(struct ab_kept_box *box)
{
	ab_steer_fini(&box->steer);
	ab_state_fini(&box->state);
}
