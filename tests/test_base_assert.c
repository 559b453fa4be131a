// Asserts: on whatever the build, one that does not hold says where and aborts; one that is off does nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#undef NDEBUG
#include "base/base.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *fault_of(int number) { return number < 0 ? "it is negative" : NULL; }

// Runs `act` in a child and returns how it ended; text [200] gets what it printed.
static int outcome(void (*act)(int), int number, char *text)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], 2);
        act(number);
        _exit(0);
    }
    close(ends[1]);
    memset(text, 0, 200);
    for (ssize_t got, at = 0; at < 199 && (got = read(ends[0], text + at, (size_t)(199 - at))) > 0;) at += got;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void require_positive(int number) { MO_ASSERT(number > 0); }
static void require_sound(int number) { MO_ASSERT_SOUND(fault_of(number)); }

static void failures_abort_and_say_where(void **state)
{
    (void)state;
    char text[200];
    assert_int_equal(outcome(require_positive, 1, text), 0);
    assert_string_equal(text, "");
    int status = outcome(require_positive, 0, text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "test_base_assert.c:"));
    assert_non_null(strstr(text, "number > 0: does not hold"));
    assert_int_equal(outcome(require_sound, 1, text), 0);
    status = outcome(require_sound, -1, text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "fault_of(number): it is negative"));
}

#define NDEBUG
#include "base/assert.h"

static void releases_do_not_evaluate(void **state)
{
    (void)state;
    int calls = 0;
    MO_ASSERT(calls++ > 5);
    MO_ASSERT_SOUND(fault_of(calls--));
    assert_int_equal(calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_abort_and_say_where),
        cmocka_unit_test(releases_do_not_evaluate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
