#ifndef AB_SANDBOX_START_INIT_H
#define AB_SANDBOX_START_INIT_H
/*
 * The box's first process: builds the box, starts the command, then reaps,
 * forwards signals, reports, and answers the supervisor's requests.
 */
#include <stdint.h>

/* sandbox/start/box_wire.h describes the arguments. */
_Noreturn void ab_init_main(int sock, const char *net, uint64_t tmp_size, const char *host_ports);

#endif
