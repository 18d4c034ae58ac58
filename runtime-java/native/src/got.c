#include "got.h"

#if defined(__x86_64__)
#define RELOC_JUMP_SLOT 7
#define RELOC_GLOB_DAT 6
#define RELOC_ABSOLUTE 1
#elif defined(__i386__)
#define RELOC_JUMP_SLOT 7
#define RELOC_GLOB_DAT 6
#define RELOC_ABSOLUTE 1
#elif defined(__aarch64__)
#define RELOC_JUMP_SLOT 1026
#define RELOC_GLOB_DAT 1025
#define RELOC_ABSOLUTE 257
#elif defined(__arm__)
#define RELOC_JUMP_SLOT 22
#define RELOC_GLOB_DAT 21
#define RELOC_ABSOLUTE 2
#else
#error "this processor is not supported"
#endif

#if __SIZEOF_POINTER__ == 8
#define SYMBOL_OF(info) ((size_t)((info) >> 32))
#define TYPE_OF(info) ((unsigned)((info)&0xffffffffu))
#else
#define SYMBOL_OF(info) ((size_t)((info) >> 8))
#define TYPE_OF(info) ((unsigned)((info)&0xffu))
#endif

/* Android's packed relocations, see bionic's linker. */
#define TAG_RELR 36
#define TAG_ANDROID_REL 0x6000000f
#define TAG_ANDROID_RELA 0x60000011
#define TAG_ANDROID_RELR 0x6fffe000

#define MAX_SLOTS 64
#define MAX_SYMBOLS 16

enum slot_state { FREE, HOOKED, COVERED };

/* A slot that was changed. Guarded by the lock. */
struct slot {
	enum slot_state state;
	uintptr_t base;
	_Atomic(void *) *address;
	int symbol;
	void *previous;
};

static atomic_int lock;
static struct slot slots[MAX_SLOTS];

/* What the callback of dl_iterate_phdr needs. */
struct walk {
	const char *library;
	struct got_symbol *symbols;
	int count;
	/* The functions as the dynamic linker finds them. */
	void *found[MAX_SYMBOLS];
	int removing;
	struct got_result *result;
};

/* One library, as far as relocations need it. */
struct object {
	uintptr_t base;
	const struct dl_phdr_info *info;
	const ElfW(Sym) *symtab;
	const char *strtab;
	uintptr_t relro_begin, relro_end;
};

static uintptr_t page_size(void) {
	return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* glibc relocates the addresses of the dynamic section when it loads a library. bionic does not. */
static uintptr_t dynamic_address(uintptr_t base, uintptr_t value) {
#ifdef __ANDROID__
	return base + value;
#else
	return value < base ? base + value : value;
#endif
}

static int has_name(const char *path, const char *name) {
	const char *last = path;
	for (; *path; path++) {
		if (*path == '/') {
			last = path + 1;
		}
	}
	return strcmp(last, name) == 0;
}

/* Reports whether an address is inside the library: a slot that is not bound yet points to the library's own stubs. */
static int is_inside(const struct object *o, const void *address) {
	for (int i = 0; i < o->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &o->info->dlpi_phdr[i];
		uintptr_t begin = o->base + p->p_vaddr;
		if (p->p_type == PT_LOAD && (uintptr_t)address >= begin && (uintptr_t)address < begin + p->p_memsz) {
			return 1;
		}
	}
	return 0;
}

/*
 * Replaces the content of a slot if it is what is expected. Returns 0 if it is something else or if the memory cannot
 * be made writable. Memory that the dynamic linker made read-only is read-only again afterwards. Another library that
 * changes the protection of the same page at the same moment is not guarded against; nothing can.
 */
static int replace(const struct object *o, _Atomic(void *) *address, void *expected, void *value) {
	uintptr_t page = (uintptr_t)address & ~(page_size() - 1);
	int protected = (uintptr_t)address >= o->relro_begin && (uintptr_t)address < o->relro_end;
	if (protected && mprotect((void *)page, page_size(), PROT_READ | PROT_WRITE) != 0) {
		return 0;
	}
	int done = atomic_compare_exchange_strong(address, &expected, value);
	if (protected) {
		mprotect((void *)page, page_size(), PROT_READ);
	}
	return done;
}

/* Returns the entry of a slot that was changed before, or a free one, or NULL if there is neither. */
static struct slot *entry_of(_Atomic(void *) *address) {
	struct slot *empty = NULL;
	for (int i = 0; i < MAX_SLOTS; i++) {
		if (slots[i].state != FREE && slots[i].address == address) {
			return &slots[i];
		}
		if (slots[i].state == FREE && empty == NULL) {
			empty = &slots[i];
		}
	}
	return empty;
}

/* Reports whether the original function of a symbol must stay as it is, because calls may pass through us. */
static int is_used(int symbol) {
	for (int i = 0; i < MAX_SLOTS; i++) {
		if (slots[i].state != FREE && slots[i].symbol == symbol) {
			return 1;
		}
	}
	return 0;
}

static void install_slot(const struct object *o, struct walk *w, _Atomic(void *) *address, int symbol) {
	struct got_symbol *s = &w->symbols[symbol];
	struct slot *e = entry_of(address);
	if (e == NULL) {
		w->result->skipped++;
		return;
	}
	void *held = atomic_load(address);
	if (e->state != FREE && held == atomic_load(&s->original)) {
		e->state = FREE; /* Lazy binding was faster than us, or another library has taken its function away. */
	}
	if (e->state != FREE && held != e->previous) {
		/* Ours, or a function that another library has put over it and that may call ours. */
		e->state = held == s->replacement ? HOOKED : COVERED;
		e->state == HOOKED ? w->result->hooked++ : w->result->covered++;
		return;
	}
	if (held == s->replacement) {
		return; /* A second relocation of the same slot. */
	}
	void *target = is_inside(o, held) ? w->found[symbol] : held;
	if (target == NULL || (is_used(symbol) && atomic_load(&s->original) != target)) {
		w->result->skipped++;
		return;
	}
	atomic_store(&s->original, target);
	if (!replace(o, address, held, s->replacement)) {
		w->result->skipped++;
		return;
	}
	*e = (struct slot){HOOKED, o->base, address, symbol, held};
	w->result->hooked++;
}

static void relocation(const struct object *o, struct walk *w, uintptr_t offset, uintptr_t info, intptr_t addend) {
	unsigned type = TYPE_OF(info);
	if (type != RELOC_JUMP_SLOT && type != RELOC_GLOB_DAT && (type != RELOC_ABSOLUTE || addend != 0)) {
		return;
	}
	const char *name = o->strtab + o->symtab[SYMBOL_OF(info)].st_name;
	for (int i = 0; i < w->count; i++) {
		if (strcmp(name, w->symbols[i].name) == 0) {
			install_slot(o, w, (_Atomic(void *) *)(o->base + offset), i);
		}
	}
}

static void relocations(const struct object *o, struct walk *w, uintptr_t table, size_t bytes, int with_addend) {
	if (table == 0) {
		return;
	}
	if (with_addend) {
		const ElfW(Rela) *r = (const ElfW(Rela) *)table;
		for (size_t i = 0; i < bytes / sizeof *r; i++) {
			relocation(o, w, r[i].r_offset, r[i].r_info, r[i].r_addend);
		}
		return;
	}
	const ElfW(Rel) *r = (const ElfW(Rel) *)table;
	for (size_t i = 0; i < bytes / sizeof *r; i++) {
		relocation(o, w, r[i].r_offset, r[i].r_info, 0);
	}
}

/* Reads the dynamic section and changes the slots of one library. */
static void install_object(struct object *o, struct walk *w, const ElfW(Dyn) *dynamic) {
	uintptr_t jmprel = 0, rela = 0, rel = 0;
	size_t jmprel_size = 0, rela_size = 0, rel_size = 0;
	int jmprel_with_addend = 0;
	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
		uintptr_t value = d->d_un.d_val;
		switch (d->d_tag) {
		case DT_SYMTAB: o->symtab = (const void *)dynamic_address(o->base, value); break;
		case DT_STRTAB: o->strtab = (const void *)dynamic_address(o->base, value); break;
		case DT_JMPREL: jmprel = dynamic_address(o->base, value); break;
		case DT_PLTRELSZ: jmprel_size = value; break;
		case DT_PLTREL: jmprel_with_addend = value == DT_RELA; break;
		case DT_RELA: rela = dynamic_address(o->base, value); break;
		case DT_RELASZ: rela_size = value; break;
		case DT_REL: rel = dynamic_address(o->base, value); break;
		case DT_RELSZ: rel_size = value; break;
		case TAG_ANDROID_REL:
		case TAG_ANDROID_RELA: w->result->packed = 1; break;
		default: break;
		}
	}
	if (o->symtab == NULL || o->strtab == NULL) {
		return;
	}
	relocations(o, w, jmprel, jmprel_size, jmprel_with_addend);
	relocations(o, w, rela, rela_size, 1);
	relocations(o, w, rel, rel_size, 0);
}

static void remove_object(const struct object *o, struct walk *w) {
	for (int i = 0; i < MAX_SLOTS; i++) {
		struct slot *e = &slots[i];
		if (e->state == FREE || e->base != o->base) {
			continue;
		}
		void *held = atomic_load(e->address);
		if (held == e->previous || held == atomic_load(&w->symbols[e->symbol].original)
				|| replace(o, e->address, w->symbols[e->symbol].replacement, e->previous)) {
			e->state = FREE;
		} else {
			e->state = COVERED;
			w->result->covered++;
		}
	}
}

/* Runs under the dynamic linker's lock, so that the library cannot be unloaded meanwhile. */
static int visit(struct dl_phdr_info *info, size_t size, void *data) {
	(void)size;
	struct walk *w = data;
	if (info->dlpi_name == NULL || !has_name(info->dlpi_name, w->library)) {
		return 0;
	}
	struct object o = {.base = info->dlpi_addr, .info = info};
	const ElfW(Dyn) *dynamic = NULL;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_DYNAMIC) {
			dynamic = (const ElfW(Dyn) *)(o.base + p->p_vaddr);
		} else if (p->p_type == PT_GNU_RELRO) {
			/* The pages that the dynamic linker has made read-only: bionic rounds the end up, glibc down. */
			o.relro_begin = (o.base + p->p_vaddr) & ~(page_size() - 1);
			o.relro_end = o.base + p->p_vaddr + p->p_memsz;
#ifdef __ANDROID__
			o.relro_end += page_size() - 1;
#endif
			o.relro_end &= ~(page_size() - 1);
		}
	}
	if (dynamic == NULL) {
		return 0;
	}
	w->result->libraries++;
	if (w->removing) {
		remove_object(&o, w);
	} else {
		install_object(&o, w, dynamic);
	}
	return 0;
}

void got_install(const char *library, struct got_symbol *symbols, int count, struct got_result *result) {
	struct walk w = {.library = library, .symbols = symbols, .count = count, .result = result};
	memset(result, 0, sizeof *result);
	/* Not in the callback: dlsym takes another lock of the dynamic linker. */
	for (int i = 0; i < count && i < MAX_SYMBOLS; i++) {
		w.found[i] = dlsym(RTLD_DEFAULT, symbols[i].name);
	}
	lock_take(&lock);
	dl_iterate_phdr(visit, &w);
	lock_release(&lock);
}

int got_remove(const char *library, struct got_symbol *symbols, int count) {
	struct got_result result;
	memset(&result, 0, sizeof result);
	struct walk w = {.library = library, .symbols = symbols, .count = count, .removing = 1, .result = &result};
	lock_take(&lock);
	dl_iterate_phdr(visit, &w);
	lock_release(&lock);
	return result.covered;
}
