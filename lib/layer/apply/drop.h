#ifndef AB_LAYER_APPLY_DROP_H
#define AB_LAYER_APPLY_DROP_H
#include <stddef.h>

struct ab_apply;
struct ab_error;

/* Remove one change from the layer: it shows the host's file again. Call it for what is in a
 * folder before the folder. */
int ab_drop_change(struct ab_apply *apply, size_t i, struct ab_error *err);

#endif
