#pragma once
/*
 * The proof: the command's own process runs it in the finished box, just before it
 * executes the command. Each property is tried, not assumed: the probe attempts
 * what must fail, in a way that does no harm if it succeeds.
 */
#include "base/base.h"

struct ab_spec;
struct ab_target;
struct ab_holds;

/* Probe these properties; `holds` has those that were probed before. */
void ab_probe(const struct ab_target *target, uint32_t properties, struct ab_holds *holds);
/* It was loaded: take back what rests on it and does not hold. */
void ab_probe_asked(const struct ab_spec *spec, struct ab_holds *holds);
/* The filter that asks the guard could not be loaded: take back what rests on it. */
void ab_probe_unasked(const struct ab_spec *spec, struct ab_holds *holds);
