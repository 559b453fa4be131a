// What clang's analyzer must be told, because it looks at one file at a time: a failure is never MO_OK. tools/tidy.sh
// includes this in front of every file.
#include "base/base.h"

#define mo_fail(err, status, ...) ((void)mo_fail((err), (status), __VA_ARGS__), (status))
#define mo_fail_memory(err)       ((void)mo_fail_memory(err), MO_ERROR_MEMORY)
