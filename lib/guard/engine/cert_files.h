#pragma once
/*
 * Certificates for a box without mounts: those that variables name (host/ca_store.h) become
 * files in its folder for temporary files. The machine's own bundles stay as they are, so a program
 * that reads only these does not trust the run's authority.
 */
#include "base/base.h"

struct ab_spec;

/* Before the box can write to the folder. */
int ab_cert_files_write(const char *folder, struct ab_spec *spec, struct ab_error *err);
