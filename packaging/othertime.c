/* Preloaded, this moves the clock that a program reads 400 days on. faketime would do, but rustc hangs under it. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    long result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += 400L * 24 * 60 * 60;
    return (int)result;
}
