/*
 * What the sources use of bionic, for builds without the NDK. Layouts and numbers are those of bionic and of Linux on
 * the four ABIs. A build with the NDK uses the NDK's headers instead.
 */
#ifndef TRACEGEN_BIONIC_H
#define TRACEGEN_BIONIC_H

#include <stddef.h>
#include <stdint.h>

typedef intptr_t ssize_t;
typedef int clockid_t;

struct timespec {
	long tv_sec;
	long tv_nsec;
};
#define CLOCK_MONOTONIC 1
int clock_gettime(clockid_t clock, struct timespec *out);

int *__errno(void);
#define errno (*__errno())
#define EINTR 4
#define EAGAIN 11

int getpid(void);
int sched_yield(void);
long sysconf(int name);
#define _SC_PAGESIZE 0x0027
ssize_t read(int fd, void *out, size_t n);
ssize_t write(int fd, const void *bytes, size_t n);
int close(int fd);
int open(const char *path, int flags, ...);
int fcntl(int fd, int command, ...);
int pipe2(int ends[2], int flags);
ssize_t readlink(const char *path, char *out, size_t n);
long syscall(long number, ...);
#define O_RDONLY 0
#define O_CLOEXEC 02000000
#define O_NONBLOCK 04000
#define F_SETFL 4

#if defined(__x86_64__)
#define SYS_tgkill 234
#define SYS_gettid 186
#elif defined(__i386__)
#define SYS_tgkill 270
#define SYS_gettid 224
#elif defined(__aarch64__)
#define SYS_tgkill 131
#define SYS_gettid 178
#elif defined(__arm__)
#define SYS_tgkill 268
#define SYS_gettid 224
#endif

void *memcpy(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);
int strcmp(const char *a, const char *b);
size_t strlen(const char *s);

int mprotect(const void *address, size_t n, int protection);
#define PROT_READ 1
#define PROT_WRITE 2

struct iovec {
	void *iov_base;
	size_t iov_len;
};
struct msghdr {
	void *msg_name;
	int msg_namelen;
	struct iovec *msg_iov;
	size_t msg_iovlen;
	void *msg_control;
	size_t msg_controllen;
	int msg_flags;
};
#define MSG_PEEK 2

struct pollfd {
	int fd;
	short events;
	short revents;
};
int poll(struct pollfd *fds, unsigned n, int millis);
#define POLLERR 8
#define POLLHUP 16
#define POLLNVAL 32

struct dirent {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[256];
};
typedef struct DIR DIR;
DIR *opendir(const char *path);
struct dirent *readdir(DIR *d);
int closedir(DIR *d);

typedef struct siginfo siginfo_t;
typedef unsigned long sigset_t;
struct sigaction {
#ifdef __LP64__
	int sa_flags;
#endif
	union {
		void (*sa_handler)(int);
		void (*sa_sigaction)(int, siginfo_t *, void *);
	};
	sigset_t sa_mask;
#ifndef __LP64__
	int sa_flags;
#endif
	void (*sa_restorer)(void);
};
int sigaction(int signal, const struct sigaction *action, struct sigaction *before);
int sigemptyset(sigset_t *set);
int sigaddset(sigset_t *set, int signal);
int sigismember(const sigset_t *set, int signal);
int pthread_sigmask(int how, const sigset_t *set, sigset_t *before);
#define SIGQUIT 3
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SA_SIGINFO 0x00000004
#define SA_ONSTACK 0x08000000
#define SA_RESTART 0x10000000

void *dlsym(void *handle, const char *name);
#ifdef __LP64__
#define RTLD_DEFAULT ((void *)0)
#else
#define RTLD_DEFAULT ((void *)0xffffffff)
#endif

typedef struct {
	uint32_t p_type, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_flags, p_align;
} Elf32_Phdr;
typedef struct {
	uint32_t p_type, p_flags;
	uint64_t p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align;
} Elf64_Phdr;
typedef struct {
	uint32_t st_name, st_value, st_size;
	unsigned char st_info, st_other;
	uint16_t st_shndx;
} Elf32_Sym;
typedef struct {
	uint32_t st_name;
	unsigned char st_info, st_other;
	uint16_t st_shndx;
	uint64_t st_value, st_size;
} Elf64_Sym;
typedef struct {
	int32_t d_tag;
	union {
		uint32_t d_val;
	} d_un;
} Elf32_Dyn;
typedef struct {
	int64_t d_tag;
	union {
		uint64_t d_val;
	} d_un;
} Elf64_Dyn;
typedef struct {
	uint32_t r_offset, r_info;
} Elf32_Rel;
typedef struct {
	uint64_t r_offset, r_info;
} Elf64_Rel;
typedef struct {
	uint32_t r_offset, r_info;
	int32_t r_addend;
} Elf32_Rela;
typedef struct {
	uint64_t r_offset, r_info;
	int64_t r_addend;
} Elf64_Rela;
#ifdef __LP64__
#define ElfW(type) Elf64_##type
#else
#define ElfW(type) Elf32_##type
#endif
#define PT_LOAD 1
#define PT_DYNAMIC 2
#define PT_GNU_RELRO 0x6474e552
#define DT_NULL 0
#define DT_PLTRELSZ 2
#define DT_STRTAB 5
#define DT_SYMTAB 6
#define DT_RELA 7
#define DT_RELASZ 8
#define DT_REL 17
#define DT_RELSZ 18
#define DT_PLTREL 20
#define DT_JMPREL 23

struct dl_phdr_info {
	uintptr_t dlpi_addr;
	const char *dlpi_name;
	const ElfW(Phdr) *dlpi_phdr;
	uint16_t dlpi_phnum;
};
int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data);

#endif
