/* Links with everything that the library has; see meson.build. */
int main(void)
{
	return 0;
}
