/*
 * The scanner of terminal modes: the same whether the bytes come at once or
 * in two pieces, and always undone by what it says undoes it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/screen_modes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ab_screen_modes whole = { 0 }, parts = { 0 };
	ab_autobuf struct ab_buf undone = { 0 }, uncovered = { 0 };
	size_t cut;

	if (size == 0)
		return 0;
	cut = data[0] % size;
	ab_screen_modes_feed(&whole, data, size);
	ab_screen_modes_feed(&parts, data, cut);
	ab_screen_modes_feed(&parts, data + cut, size - cut);
	if (memcmp(&whole, &parts, sizeof(whole)) != 0)
		abort();
	ab_screen_modes_uncover(&parts, &uncovered);
	ab_screen_modes_feed(&parts, uncovered.data, uncovered.len);
	if (parts.state != whole.state)
		abort();
	ab_screen_modes_undo(&whole, &undone);
	ab_screen_modes_feed(&whole, undone.data, undone.len);
	if (whole.on || whole.keyboards[0] || whole.keyboards[1] || whole.state || whole.device)
		abort();
	return 0;
}
