#ifndef AB_SANDBOX_START_PROBE_H
#define AB_SANDBOX_START_PROBE_H
/*
 * The proof: run by the command's own process in the finished box, just
 * before it executes the command. Each property is tried, not assumed: what
 * must fail is attempted, in a way that does no harm should it succeed.
 */
struct ab_target;
struct ab_holds;

void ab_probe(const struct ab_target *target, struct ab_holds *holds);

#endif
