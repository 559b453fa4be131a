// Any text as an address and as a Host header: what is found is one of the things that the viewer serves, with numbers
// in their range and names without a way out of the directory.
#include "fuzz.h"
#include "monolith/monolith.h"
#include "view/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = calloc(bytes + 2, 1);
    if (!text) return 0;
    memcpy(text, data, bytes);
    mo_view_route route = mo_view_find_route(text);
    if (route.kind != MO_VIEW_NOTHING && text[0] != '/') abort();
    if (mo_view_host_is_local(text) && strncasecmp(text, "localhost", 9) != 0 && strncmp(text, "127.0.0.1", 9) != 0)
        abort();
    free(text);
    return 0;
}
