#include "broker/cleanup/moved_files.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "workspace/quarantine/quarantine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An entry names a file of the folder itself, and an absolute place. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_moved_file f;

	if (ab_moved_parse((const char *)data, size, &f) < 0)
		return 0;
	if (!f.id || !ab_quarantine_number(f.file) || strchr(f.file, '/') || f.where[0] != '/' ||
	    f.mode > 07777 || strlen(f.stamp) >= sizeof(f.stamp))
		abort();
	ab_moved_file_fini(&f);
	return 0;
}
