// The table of routes, and who may ask.
#include "view/view.h"
#include <ctype.h>
#include <string.h>

// A whole number from 0 to 9999999 without sign or leading zeros; *end is where it stops. -1: none.
static int32_t read_number(const char *s, const char **end)
{
    int32_t value = 0, digits = 0;
    for (; isdigit((unsigned char)s[digits]) && digits < 8; digits++) value = 10 * value + (s[digits] - '0');
    *end = s + digits;
    return digits == 0 || digits == 8 || (s[0] == '0' && digits > 1) ? -1 : value;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Percent-decodes into a buffer. False: a broken escape, a zero byte, too long.
static bool decode(const char *s, char *out, size_t room)
{
    size_t n = 0;
    while (*s) {
        int c = (unsigned char)*s++;
        if (c == '%') {
            int high = hex_value(s[0]), low = high < 0 ? -1 : hex_value(s[1]);
            if (low < 0) return false;
            c = 16 * high + low;
            s += 2;
        }
        if (c == 0 || n + 1 >= room) return false;
        out[n++] = (char)c;
    }
    out[n] = 0;
    return n > 0;
}

// "/frame/12/surface"
static mo_view_route frame_route(const char *path)
{
    static const struct {
        const char *name;
        mo_view_kind kind;
    } kinds[] = {{"/surface", MO_VIEW_SURFACE},
                 {"/particles", MO_VIEW_PARTICLES},
                 {"/bodies", MO_VIEW_BODIES},
                 {"/elastic", MO_VIEW_ELASTIC},
                 {"/smoke", MO_VIEW_SMOKE}};
    const char *rest;
    int32_t frame = read_number(path, &rest);
    for (size_t i = 0; frame >= 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(rest, kinds[i].name) == 0) return (mo_view_route){.kind = kinds[i].kind, .number = frame};
    return (mo_view_route){0};
}

mo_view_route mo_view_find_route(const char *path)
{
    mo_view_route route = {0};
    if (strcmp(path, "/") == 0) return (mo_view_route){.kind = MO_VIEW_PAGE};
    if (strcmp(path, "/run.json") == 0) return (mo_view_route){.kind = MO_VIEW_RUN};
    if (strcmp(path, "/stats") == 0) return (mo_view_route){.kind = MO_VIEW_STATS};
    if (strncmp(path, "/stats/", 7) == 0) {
        const char *rest;
        int32_t step = read_number(path + 7, &rest);
        if (step >= 0 && *rest == 0) route = (mo_view_route){.kind = MO_VIEW_STATS, .number = step};
        return route;
    }
    if (strncmp(path, "/frame/", 7) == 0) return frame_route(path + 7);
    if (strncmp(path, "/body/", 6) == 0 && decode(path + 6, route.name, sizeof route.name)) route.kind = MO_VIEW_BODY;
    if (strncmp(path, "/skin/", 6) == 0 && decode(path + 6, route.name, sizeof route.name)) route.kind = MO_VIEW_SKIN;
    return route;
}

bool mo_view_host_is_local(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1"};
    if (!host) return false;
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(names[i]);
        if (strncasecmp(host, names[i], n) != 0) continue;
        // Any port: it may be the other end of a tunnel.
        const char *rest = host + n;
        if (*rest == 0) return true;
        if (*rest == ':' && rest[1] && strspn(rest + 1, "0123456789") == strlen(rest + 1)) return true;
    }
    return false;
}

static void add_path(mo_text *t, const char *folder, const char *name)
{
    static const char hex[] = "0123456789ABCDEF";
    mo_text_add(t, folder, strlen(folder));
    for (const unsigned char *s = (const unsigned char *)name; *s; s++) {
        char coded[3] = {'%', hex[*s >> 4], hex[*s & 15]};
        // A name of dots alone would be taken for a step upwards by whoever tidies up addresses.
        bool plain = *s < 128 && (isalnum(*s) || *s == '-' || *s == '_');
        mo_text_add(t, plain ? (const char *)s : coded, plain ? 1 : 3);
    }
}

void mo_view_add_body_path(mo_text *t, const char *name) { add_path(t, "body/", name); }
void mo_view_add_skin_path(mo_text *t, const char *name) { add_path(t, "skin/", name); }
