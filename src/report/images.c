// Pictures of the run inside the page, as data URIs: first, middle and last of DIR/images/*.png.
#include "report/report.h"
#include "output/file.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 4 << 20 }; // of one picture: a page is sent by mail

static void add_base64(mo_text *t, const unsigned char *data, size_t bytes)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char out[4096];
    size_t used = 0;
    for (size_t i = 0; i < bytes; i += 3) {
        size_t n = bytes - i < 3 ? bytes - i : 3;
        uint32_t v = (uint32_t)data[i] << 16 | (n > 1 ? (uint32_t)data[i + 1] << 8 : 0) | (n > 2 ? data[i + 2] : 0);
        out[used++] = digit[v >> 18];
        out[used++] = digit[v >> 12 & 63];
        out[used++] = n > 1 ? digit[v >> 6 & 63] : '=';
        out[used++] = n > 2 ? digit[v & 63] : '=';
        if (used + 4 > sizeof out) mo_text_add(t, out, used), used = 0;
    }
    mo_text_add(t, out, used);
}

static void add_image(mo_text *t, const mo_report_run *run, const char *name)
{
    static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    char *path = mo_path(mo_reader_directory(run->reader), "images/%s", name), *data = NULL;
    size_t bytes = 0;
    mo_error err = {0};
    mo_html_print(t, "<figure>");
    const char *problem = NULL;
    if (!path) {
        t->failed = true;
    } else if (mo_file_read(path, &data, &bytes, NULL, &err) != MO_OK) {
        problem = err.text;
        t->failed = t->failed || err.status == MO_ERROR_MEMORY;
    } else if (bytes > MAX_BYTES) {
        problem = "too large to be embedded";
    } else if (bytes < 8 || memcmp(data, signature, 8) != 0) {
        problem = "not a PNG picture";
    } else {
        mo_html_print(t, "<img alt=\"\" src=\"data:image/png;base64,");
        add_base64(t, (const unsigned char *)data, bytes);
        mo_html_print(t, "\">");
    }
    mo_html_print(t, "<figcaption><p>images/");
    mo_html_escape(t, name, strlen(name));
    if (problem) {
        mo_html_print(t, ": ");
        mo_html_escape(t, problem, strlen(problem));
    }
    mo_html_print(t, "</p></figcaption></figure>\n");
    mo_free_block(data);
    mo_free(path);
}

// ---- Finding them ----

typedef struct name_list {
    char (*name)[256];
    int64_t count, capacity;
} name_list;

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

static bool list_images(const mo_report_run *run, name_list *list)
{
    char *path = mo_path(mo_reader_directory(run->reader), "images");
    if (!path) return false;
    DIR *dir = opendir(path);
    mo_free(path);
    if (!dir) return true; // nothing rendered
    bool good = true;
    for (struct dirent *e; good && (e = readdir(dir));) {
        size_t length = strlen(e->d_name);
        if (length < 5 || length > 255 || e->d_name[0] == '.' || strcmp(e->d_name + length - 4, ".png") != 0) continue;
        if (strcmp(e->d_name, "video.png") == 0) continue; // all pictures in one, animated
        good = mo_reserve((void **)&list->name, &list->capacity, list->count + 1, sizeof *list->name);
        if (good) strcpy(list->name[list->count++], e->d_name);
    }
    closedir(dir);
    if (list->count > 1) qsort(list->name, (size_t)list->count, sizeof *list->name, compare_names);
    return good;
}

void mo_report_images(mo_text *t, const mo_report_run *run, int32_t count)
{
    bool any = false;
    for (int32_t k = 0; k < count; k++) {
        name_list list = {0};
        if (!list_images(&run[k], &list)) t->failed = true;
        if (list.count && !any) mo_html_print(t, "<h2>Pictures</h2>\n"), any = true;
        if (list.count && count > 1) {
            mo_html_print(t, "<h3 class=\"of\"><i class=\"c%d\"></i>", (int)(k % 8));
            mo_html_escape(t, run[k].label, strlen(run[k].label));
            mo_html_print(t, "</h3>");
        }
        if (list.count) mo_html_print(t, "<div class=\"pictures\">\n");
        const int64_t pick[3] = {0, list.count / 2, list.count - 1};
        for (int i = 0; i < 3 && list.count; i++)
            if (i == 0 || pick[i] > pick[i - 1]) add_image(t, &run[k], list.name[pick[i]]);
        if (list.count) mo_html_print(t, "</div>\n");
        mo_free(list.name);
    }
}
