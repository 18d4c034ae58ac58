/* A libc.so and a libdl.so to link against: the functions exist on every device. */
#define F(name) void name(void) {}
#ifdef LIBDL
F(dlsym) F(dl_iterate_phdr)
#else
F(clock_gettime) F(__errno) F(getpid) F(sched_yield) F(sysconf) F(read) F(write) F(close) F(open) F(fcntl) F(pipe2)
F(readlink) F(syscall) F(memcpy) F(memset) F(memcmp) F(memmove) F(strcmp) F(strlen) F(mprotect) F(poll) F(opendir)
F(readdir) F(closedir) F(sigaction) F(sigemptyset) F(sigaddset) F(sigismember) F(pthread_sigmask)
F(__stack_chk_fail)
#endif
