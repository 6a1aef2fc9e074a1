/*
 * Debug builds only. The leak checker stops the process with ptrace, which
 * the locks forbid: neither the supervisor nor the box could ever end.
 */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
