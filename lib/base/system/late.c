#include "base/system/late.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include "base/data/error.h"

/* scripts/late-relocations fills this in after linking; addresses as linked. */
static const struct table {
	uint64_t relocations;
	uint64_t count;
	/* The part of the data that is read-only in the running program. */
	uint64_t begin, end;
} linked __attribute__((section(".agentbox.late"), used));

/* Where the program is loaded, and which part libc made read-only. */
struct place {
	uintptr_t base;
	uintptr_t fixed_end;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *data)
{
	struct place *place = data;

	(void)size;
	place->base = info->dlpi_addr;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_GNU_RELRO)
			place->fixed_end = place->base + p->p_vaddr + p->p_memsz;
	}
	return 1; /* the program itself comes first */
}

static void write_pointers(const struct table *table, uintptr_t base)
{
	const ElfW(Rela) *r = (const void *)(base + table->relocations);

	for (uint64_t n = table->count; n > 0; n--, r++)
		*(uintptr_t *)(base + r->r_offset) = base + r->r_addend;
}

static int protect_pages(uintptr_t begin, uintptr_t end, int prot, struct ab_error *err)
{
	if (begin >= end || mprotect((void *)begin, end - begin, prot) == 0)
		return 0;
	return ab_fail(err, AB_ESYSTEM, errno, "change the protection of the TLS library's data");
}

int ab_late_relocate(struct ab_error *err)
{
	static bool done;
	const struct table *table = &linked;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct place place = { 0 };
	uintptr_t begin, end;

	/* Otherwise the compiler would assume the zeroes that it sees. */
	__asm__("" : "+r"(table));
	if (done || table->count == 0)
		return 0;
	dl_iterate_phdr(find_place, &place);

	/*
	 * The linker aligned the data to its own page size. If the kernel's pages
	 * are larger, the last one may contain data that libc left writable and
	 * that must stay writable.
	 */
	begin = (place.base + table->begin) & ~(page - 1);
	end = (place.base + table->end + page - 1) & ~(page - 1);
	if (end > (place.fixed_end & ~(page - 1)))
		end = place.fixed_end & ~(page - 1);
	if (protect_pages(begin, end, PROT_READ | PROT_WRITE, err) < 0)
		return -1;
	write_pointers(table, place.base);
	done = true;
	return protect_pages(begin, end, PROT_READ, err);
}
