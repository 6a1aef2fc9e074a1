#pragma once
/* Shared by the files of state/kept. */
#include "state/kept/kept.h"

/* kept_notes.c: a digest of the settings that decide what a box sees of the files. */
void ab_kept_layers_policy_digest(const struct ab_policy *policy, char ret_hex[65]);
/* What has changed since the last run with this set. */
void ab_kept_layers_note_changes(const struct ab_layer_set *set, const struct ab_policy *policy,
				 struct ab_strv *notes, struct ab_strv *details);
/* Files that the host has changed since they were copied into the layer. */
void ab_kept_layers_note_older(const struct ab_layer_set *set, const char *home,
			       struct ab_strv *details);

/* kept_copy.c: what a second run with the same key gets. */
int ab_kept_layers_share(const struct ab_kept_layers_wish *wish, const char *key,
			 struct ab_kept_layers *kept, struct ab_strv *notes, struct ab_error *err);
