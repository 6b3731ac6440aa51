#include "cli_signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

/* A handler may run in any thread at any time: all that it shares with the rest is in these. */
enum state { STATE_FREE, STATE_HELD, STATE_DYING };
static atomic_int state;
static atomic_int waiting; /* a signal that has come; 0: none */
static atomic_int line;
static _Atomic(const char *) later;

_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_POINTER_LOCK_FREE == 2,
               "a handler can only use what is free of locks");

void signals_die(int number)
{
    static const char clear[] = "\r\033[K";
    /* Where the terminal is gone there is nothing to clear. */
    ssize_t ignored = atomic_load(&line) ? write(STDERR_FILENO, clear, sizeof(clear) - 1) : 0;
    (void)ignored;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    (void)sigaction(number, &usual, NULL);
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, number);
    (void)raise(number);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + number);
}

/* What has come is noted before the state is looked at, and released before what has come is looked at: one of the two
 * sees the other. */
static void on_signal(int number)
{
    int found = STATE_FREE;
    atomic_store(&waiting, number);
    if (atomic_compare_exchange_strong(&state, &found, STATE_DYING))
        signals_die(number);
}

void signals_prepare(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction action, before;
        (void)sigaction(numbers[i], NULL, &before);
        if (before.sa_handler == SIG_IGN)
            continue;
        action = (struct sigaction){.sa_handler = on_signal, .sa_flags = SA_RESTART};
        (void)sigemptyset(&action.sa_mask);
        (void)sigaction(numbers[i], &action, NULL);
    }
}

void signals_hold(void)
{
    int found = STATE_FREE;
    while (!atomic_compare_exchange_strong(&state, &found, STATE_HELD)) {
        /* Another thread has begun to die of a signal: nothing more is to be written. */
        (void)pause();
        found = STATE_FREE;
    }
}

void signals_release(void)
{
    atomic_store(&state, STATE_FREE);
    int number = atomic_load(&waiting);
    if (number != 0)
        on_signal(number);
}

static void on_alarm(int number)
{
    (void)number;
    const char *text = atomic_exchange(&later, NULL);
    if (text == NULL)
        return;
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    atomic_store(&line, true);
    ssize_t ignored = write(STDERR_FILENO, text, length);
    (void)ignored;
}

void signals_say_later(const char *text, unsigned seconds)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    atomic_store(&later, text);
    if (text != NULL)
        (void)sigaction(SIGALRM, &action, NULL);
    (void)alarm(text == NULL ? 0 : seconds);
}

bool signals_line_stands(void)
{
    return atomic_load(&line);
}

void signals_line(bool stands)
{
    atomic_store(&line, stands);
}
