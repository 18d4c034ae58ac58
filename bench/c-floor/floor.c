// The floor of bench/floor.go in C, with libdeflate: what every program that changes classes of jars must do, with the
// fastest library for it that is known, and nothing else. All classes are inflated and their CRC is compared. Those
// that tracegen changes get a new CRC and are deflated again, or stay stored. Everything else is copied. All cores
// work, and entries are written in the order of the input.
//
// usage: floor LEVEL LIST OUTDIR CHANGES
//
// LEVEL is one of libdeflate's, 1 to 12. LIST names the jars, one a line. CHANGES has a character for each entry of
// all jars, 1 if tracegen changes it. Zip64, encryption and bytes in front of the first entry are not supported.
//
// cc -O2 -pthread -o floor floor.c -ldeflate

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BATCH = 16,   // entries that a thread takes at a time
	WINDOW = 32,  // batches that may wait for the one before them
	THREADS = 256,
	WRITE_THROUGH = 64 << 10, // longer pieces are not copied to the buffer first
	STORED = 0,
	DEFLATED = 8,
};

// entry is one entry of the input.
struct entry {
	const uint8_t *record, *local, *data, *end; // central record, local header, data, and where the entry ends
	uint32_t crc, packed, size, record_size;
	uint16_t method;
	bool is_class, changed;
};

// result is the new data of a changed entry. The memory is used again by other entries.
struct result {
	uint8_t *memory;
	size_t capacity;
	const uint8_t *data;
	uint32_t crc, packed;
};

struct batch {
	bool done;
	struct result results[BATCH];
};

// jar is the input that is being copied, and what its threads share.
struct jar {
	const char *path;
	const uint8_t *file;
	size_t file_size;
	struct entry *entries;
	size_t count, batches;
	int level;
	pthread_mutex_t lock;
	pthread_cond_t ready, freed;
	size_t next, written; // batches that threads have taken, and that were written
	struct batch window[WINDOW];
};

// output is the file that is being written.
struct output {
	int fd;
	uint8_t *buffer;
	size_t buffered;
	const uint8_t *run, *run_end; // adjacent bytes of the input, written together
	uint64_t offset;
};

static _Noreturn void fail(const char *path, const char *why) {
	fprintf(stderr, "floor: %s: %s\n", path, why);
	exit(1);
}

static void *allocate(size_t size) {
	void *p = malloc(size ? size : 1);
	if (!p)
		fail("memory", strerror(errno));
	return p;
}

static uint16_t u16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t u32(const uint8_t *p) { return u16(p) | (uint32_t)u16(p + 2) << 16; }

static void put16(uint8_t *p, uint16_t v) {
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v) {
	put16(p, (uint16_t)v);
	put16(p + 2, (uint16_t)(v >> 16));
}

// read_entry reads a central record, and returns where the next one begins.
static const uint8_t *read_entry(struct jar *j, struct entry *e, const uint8_t *at, const uint8_t *end) {
	if (end - at < 46 || u32(at) != 0x02014b50)
		fail(j->path, "malformed central directory");
	size_t name = u16(at + 28);
	e->record = at;
	e->record_size = (uint32_t)(46 + name + u16(at + 30) + u16(at + 32));
	if ((size_t)(end - at) < e->record_size)
		fail(j->path, "malformed central directory");
	e->method = u16(at + 10);
	e->crc = u32(at + 16);
	e->packed = u32(at + 20);
	e->size = u32(at + 24);
	e->is_class = name >= 6 && memcmp(at + 46 + name - 6, ".class", 6) == 0;
	size_t local = u32(at + 42);
	if (e->packed == UINT32_MAX || e->size == UINT32_MAX || local == UINT32_MAX || u16(at + 8) & 1)
		fail(j->path, "zip64 or encrypted");
	size_t left = (size_t)(end - j->file);
	if (local > left || left - local < 30 || u32(j->file + local) != 0x04034b50)
		fail(j->path, "malformed local header");
	e->local = j->file + local;
	left -= local + 30;
	size_t fields = (size_t)u16(e->local + 26) + u16(e->local + 28);
	size_t descriptor = 0;
	if (fields + e->packed + 16 > left)
		fail(j->path, "an entry is cut short");
	e->data = e->local + 30 + fields;
	e->end = e->data + e->packed;
	if (u16(at + 8) & 8)
		descriptor = u32(e->end) == 0x08074b50 ? 16 : 12;
	e->end += descriptor;
	return at + e->record_size;
}

// open_jar maps a file and reads its directory. It returns the rest of the changes.
static const char *open_jar(struct jar *j, const char *changes) {
	int fd = open(j->path, O_RDONLY);
	struct stat status;
	if (fd < 0 || fstat(fd, &status) < 0)
		fail(j->path, strerror(errno));
	j->file_size = (size_t)status.st_size;
	if (j->file_size < 22)
		fail(j->path, "no zip file");
	j->file = mmap(NULL, j->file_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (j->file == MAP_FAILED)
		fail(j->path, strerror(errno));
	close(fd);
	size_t end = j->file_size - 22;
	while (u32(j->file + end) != 0x06054b50 || end + 22 + u16(j->file + end + 20) > j->file_size)
		if (end-- == 0)
			fail(j->path, "no zip file");
	size_t size = u32(j->file + end + 12), start = u32(j->file + end + 16);
	j->count = u16(j->file + end + 10);
	if (j->count == UINT16_MAX || start > end || size > end - start)
		fail(j->path, "zip64, or bytes in front of the first entry");
	j->entries = allocate(j->count * sizeof *j->entries);
	const uint8_t *at = j->file + start;
	for (size_t i = 0; i < j->count; i++) {
		at = read_entry(j, &j->entries[i], at, j->file + end);
		if (*changes != '0' && *changes != '1')
			fail(j->path, "the list of changes was made for other jars");
		j->entries[i].changed = *changes++ == '1' && j->entries[i].is_class;
	}
	j->batches = (j->count + BATCH - 1) / BATCH;
	return changes;
}

// grow returns memory of at least that size, and keeps no content.
static uint8_t *grow(uint8_t **memory, size_t *capacity, size_t size) {
	if (!*memory || *capacity < size) {
		free(*memory);
		*capacity = size + size / 2;
		*memory = allocate(*capacity);
	}
	return *memory;
}

// pack does the work of one class.
static void pack(struct jar *j, struct entry *e, struct result *r, struct libdeflate_decompressor *inflater,
		struct libdeflate_compressor *deflater, uint8_t **plain, size_t *capacity) {
	const uint8_t *data = e->data;
	if (e->method == DEFLATED) {
		if (e->size / 1032 > e->packed)
			fail(j->path, "a class inflates to more than is possible");
		uint8_t *to = grow(plain, capacity, e->size);
		if (libdeflate_deflate_decompress(inflater, data, e->packed, to, e->size, NULL) != LIBDEFLATE_SUCCESS)
			fail(j->path, "a class does not inflate to its size");
		data = to;
	} else if (e->method != STORED || e->packed != e->size) {
		fail(j->path, "a class has an unknown method or a wrong size");
	}
	if (libdeflate_crc32(0, data, e->size) != e->crc)
		fail(j->path, "a class has a wrong CRC");
	if (!e->changed)
		return;
	r->crc = libdeflate_crc32(0, data, e->size);
	r->data = data;
	r->packed = e->size;
	if (e->method == DEFLATED) {
		size_t bound = libdeflate_deflate_compress_bound(deflater, e->size);
		uint8_t *to = grow(&r->memory, &r->capacity, bound);
		r->packed = (uint32_t)libdeflate_deflate_compress(deflater, data, e->size, to, bound);
		r->data = to;
	}
}

// work takes batches until there are no more.
static void *work(void *argument) {
	struct jar *j = argument;
	struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
	struct libdeflate_compressor *deflater = libdeflate_alloc_compressor(j->level);
	uint8_t *plain = NULL;
	size_t capacity = 0;
	if (!inflater || !deflater)
		fail(j->path, "no memory, or no such level");
	pthread_mutex_lock(&j->lock);
	while (j->next < j->batches) {
		if (j->next >= j->written + WINDOW) {
			pthread_cond_wait(&j->freed, &j->lock);
			continue;
		}
		size_t n = j->next++;
		struct batch *b = &j->window[n % WINDOW];
		pthread_mutex_unlock(&j->lock);
		for (size_t i = n * BATCH; i < j->count && i < (n + 1) * BATCH; i++)
			if (j->entries[i].is_class)
				pack(j, &j->entries[i], &b->results[i % BATCH], inflater, deflater, &plain, &capacity);
		pthread_mutex_lock(&j->lock);
		b->done = true;
		if (n == j->written)
			pthread_cond_signal(&j->ready);
	}
	pthread_mutex_unlock(&j->lock);
	free(plain);
	libdeflate_free_decompressor(inflater);
	libdeflate_free_compressor(deflater);
	return NULL;
}

static void write_all(struct output *o, const uint8_t *data, size_t size) {
	while (size > 0) {
		ssize_t n = write(o->fd, data, size);
		if (n < 0)
			fail("write", strerror(errno));
		data += n;
		size -= (size_t)n;
	}
}

static void put(struct output *o, const uint8_t *data, size_t size) {
	if (o->buffered + size > 4 * WRITE_THROUGH || size >= WRITE_THROUGH) {
		write_all(o, o->buffer, o->buffered);
		o->buffered = 0;
	}
	if (size >= WRITE_THROUGH) {
		write_all(o, data, size);
		return;
	}
	memcpy(o->buffer + o->buffered, data, size);
	o->buffered += size;
}

static void flush_run(struct output *o) {
	if (o->run)
		put(o, o->run, (size_t)(o->run_end - o->run));
	o->run = NULL;
}

// append writes bytes that are not a part of the input.
static void append(struct output *o, const uint8_t *data, size_t size) {
	flush_run(o);
	put(o, data, size);
	o->offset += size;
}

// copy_run writes bytes of the input, together with adjacent ones.
static void copy_run(struct output *o, const uint8_t *from, const uint8_t *to) {
	if (o->run && o->run_end == from) {
		o->run_end = to;
	} else {
		flush_run(o);
		o->run = from;
		o->run_end = to;
	}
	o->offset += (uint64_t)(to - from);
}

// write_entry writes one entry, and its central record to the given place.
static void write_entry(struct output *o, const struct entry *e, const struct result *r, uint8_t *record) {
	memcpy(record, e->record, e->record_size);
	if (o->offset >= UINT32_MAX)
		fail("write", "the output needs zip64");
	put32(record + 42, (uint32_t)o->offset);
	if (!e->changed) {
		copy_run(o, e->local, e->end);
		return;
	}
	put16(record + 8, u16(record + 8) & (uint16_t)~8);
	put32(record + 16, r->crc);
	put32(record + 20, r->packed);
	uint8_t fixed[30];
	memcpy(fixed, e->local, sizeof fixed);
	memcpy(fixed + 6, record + 8, 2);
	memcpy(fixed + 14, record + 16, 12);
	append(o, fixed, sizeof fixed);
	append(o, e->local + 30, (size_t)(e->data - e->local) - 30);
	append(o, r->data, r->packed);
}

// write_jar writes all entries in order, as soon as they are ready.
static void write_jar(struct jar *j, const char *path) {
	struct output o = {.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644), .buffer = allocate(4 * WRITE_THROUGH)};
	if (o.fd < 0)
		fail(path, strerror(errno));
	size_t size = 0;
	for (size_t i = 0; i < j->count; i++)
		size += j->entries[i].record_size;
	uint8_t *central = allocate(size), *at = central;
	for (size_t n = 0; n < j->batches; n++) {
		struct batch *b = &j->window[n % WINDOW];
		pthread_mutex_lock(&j->lock);
		while (!b->done)
			pthread_cond_wait(&j->ready, &j->lock);
		pthread_mutex_unlock(&j->lock);
		for (size_t i = n * BATCH; i < j->count && i < (n + 1) * BATCH; i++) {
			write_entry(&o, &j->entries[i], &b->results[i % BATCH], at);
			at += j->entries[i].record_size;
		}
		pthread_mutex_lock(&j->lock);
		b->done = false;
		j->written++;
		pthread_cond_broadcast(&j->freed);
		pthread_mutex_unlock(&j->lock);
	}
	uint8_t end[22] = {0x50, 0x4b, 5, 6};
	put16(end + 8, (uint16_t)j->count);
	put16(end + 10, (uint16_t)j->count);
	put32(end + 12, (uint32_t)size);
	put32(end + 16, (uint32_t)o.offset);
	append(&o, central, size);
	append(&o, end, sizeof end);
	write_all(&o, o.buffer, o.buffered);
	if (close(o.fd) < 0)
		fail(path, strerror(errno));
	free(central);
	free(o.buffer);
}

// copy_jar returns the rest of the changes.
static const char *copy_jar(int level, const char *path, const char *out, const char *changes) {
	static struct jar none;
	struct jar *j = allocate(sizeof *j);
	pthread_t threads[THREADS];
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = cores < 1 ? 1 : cores > THREADS ? THREADS : (size_t)cores;
	*j = none;
	j->path = path;
	j->level = level;
	changes = open_jar(j, changes);
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->ready, NULL);
	pthread_cond_init(&j->freed, NULL);
	for (size_t i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, j) != 0)
			fail(path, "no thread could be started");
	write_jar(j, out);
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < WINDOW; i++)
		for (size_t k = 0; k < BATCH; k++)
			free(j->window[i].results[k].memory);
	munmap((void *)j->file, j->file_size);
	free(j->entries);
	free(j);
	return changes;
}

// read_text returns a file's content, with a NUL at its end.
static char *read_text(const char *path) {
	FILE *f = fopen(path, "rb");
	struct stat status;
	if (!f || fstat(fileno(f), &status) < 0)
		fail(path, strerror(errno));
	char *text = allocate((size_t)status.st_size + 1);
	size_t n = fread(text, 1, (size_t)status.st_size, f);
	text[n] = 0;
	fclose(f);
	return text;
}

int main(int argc, char **argv) {
	if (argc != 5)
		fail("usage", "floor LEVEL LIST OUTDIR CHANGES");
	const char *changes = read_text(argv[4]);
	for (char *path = strtok(read_text(argv[2]), "\n"); path; path = strtok(NULL, "\n")) {
		const char *slash = strrchr(path, '/');
		const char *name = slash ? slash + 1 : path;
		char *out = allocate(strlen(argv[3]) + strlen(name) + 2);
		sprintf(out, "%s/%s", argv[3], name);
		changes = copy_jar(atoi(argv[1]), path, out, changes);
		free(out);
	}
	printf("uses libdeflate %s at level %d\n", LIBDEFLATE_VERSION_STRING, atoi(argv[1]));
	return 0;
}
