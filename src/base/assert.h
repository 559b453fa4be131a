// Asserts say what functions assume of each other. One that fails is a mistake in this code, not of its user: Debug
// builds, with or without sanitizers, say where and abort; Release builds (NDEBUG) do not evaluate it. As with the C
// library's assert.h, every inclusion looks at NDEBUG anew.
#ifndef MO_ASSERT_H
#define MO_ASSERT_H

#include <stddef.h>

_Noreturn void mo_assert_failed(const char *condition, const char *fault, const char *file, int line);
// Validators, mo_..._fault, return what is wrong with a structure, NULL if nothing is.
static inline void mo_assert_sound(const char *call, const char *fault, const char *file, int line)
{
    if (fault) mo_assert_failed(call, fault, file, line);
}

#endif

#undef MO_ASSERT
#undef MO_ASSERT_SOUND
#ifdef NDEBUG
#define MO_ASSERT(condition)   ((void)sizeof((condition) ? 1 : 0))
#define MO_ASSERT_SOUND(fault) ((void)sizeof(fault))
#else
#define MO_ASSERT(condition)   ((condition) ? (void)0 : mo_assert_failed(#condition, NULL, __FILE__, __LINE__))
#define MO_ASSERT_SOUND(fault) mo_assert_sound(#fault, (fault), __FILE__, __LINE__)
#endif
