#pragma once
/*
 * Changes attributes of files in the place of the box: modes, owners and times. Landlock does not
 * know them, and without read-only mounts the box could change those of every file of its user.
 *
 * The file is opened once, and both the verdict and the change are about that open file: what
 * another thread exchanges meanwhile, a name or a descriptor, has no effect. The guard has no
 * capabilities, so it can do what the box's user can, and no more.
 */
struct ab_call_handler;

struct ab_call_handler ab_attributes_handler(void);
