// What the runs were given: settings flattened to paths, with the differences, and the text of the scenes.
#include "report/report.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_value(mo_text *t, const cJSON *item)
{
    char number[32];
    if (!item) {
        mo_html_print(t, "\xe2\x80\x93");
    } else if (cJSON_IsString(item)) {
        mo_html_escape(t, item->valuestring, strlen(item->valuestring));
    } else if (cJSON_IsNumber(item) && isfinite(item->valuedouble)) {
        mo_format_double(item->valuedouble, number);
        mo_html_print(t, "%s", number);
    } else if (cJSON_IsArray(item)) {
        const cJSON *entry;
        cJSON_ArrayForEach(entry, item)
        {
            if (entry != item->child && !cJSON_IsObject(entry)) mo_html_print(t, ", ");
            if (cJSON_IsObject(entry) && entry != item->child) mo_html_print(t, "<br>");
            add_value(t, entry);
        }
    } else if (cJSON_IsObject(item)) {
        const cJSON *member;
        cJSON_ArrayForEach(member, item)
        {
            if (member != item->child) mo_html_print(t, ", ");
            mo_html_escape(t, member->string, strlen(member->string));
            mo_html_print(t, cJSON_IsObject(member) ? "\xc2\xa0(" : "\xc2\xa0");
            add_value(t, member);
            if (cJSON_IsObject(member)) mo_html_print(t, ")");
        }
    } else {
        mo_html_print(t, "%s", cJSON_IsTrue(item) ? "true" : cJSON_IsFalse(item) ? "false" : "null");
    }
}

typedef struct settings_table {
    mo_text *t;
    const mo_report_run *run;
    int32_t count, owner; // owner: the run whose leaves are being walked
    bool only_differences;
    int32_t rows;
} settings_table;

// A row, unless an earlier run has shown it.
static void settings_row(settings_table *s, const char *path)
{
    for (int32_t k = 0; k < s->owner; k++)
        if (mo_report_get(&s->run[k], path)) return;
    bool differs = false;
    const cJSON *first = mo_report_get(&s->run[0], path);
    for (int32_t k = 1; k < s->count; k++)
        differs = differs || !cJSON_Compare(first, mo_report_get(&s->run[k], path), true);
    if (s->only_differences && !differs) return;
    mo_html_print(s->t, "<tr%s><td>", differs && !s->only_differences ? " class=\"differs\"" : "");
    path += strlen("settings.");
    mo_html_escape(s->t, path, strlen(path));
    path -= strlen("settings.");
    for (int32_t k = 0; k < s->count; k++) {
        mo_html_print(s->t, "</td><td>");
        add_value(s->t, mo_report_get(&s->run[k], path));
    }
    mo_html_print(s->t, "</td></tr>\n");
    s->rows++;
}

static void walk_settings(settings_table *s, const cJSON *item, char *path, size_t used, size_t size)
{
    const cJSON *member;
    cJSON_ArrayForEach(member, item)
    {
        int n = snprintf(path + used, size - used, ".%s", member->string);
        if (n < 0 || (size_t)n >= size - used) continue;
        if (cJSON_IsObject(member))
            walk_settings(s, member, path, used + (size_t)n, size);
        else
            settings_row(s, path);
    }
}

void mo_report_settings(mo_text *t, const mo_report_run *run, int32_t count, bool only_differences)
{
    mo_text rows = {0};
    settings_table s = {&rows, run, count, 0, only_differences, 0};
    for (s.owner = 0; s.owner < count; s.owner++) {
        char path[256] = "settings";
        walk_settings(&s, mo_report_get(&run[s.owner], path), path, strlen(path), sizeof path);
    }
    if (only_differences) {
        mo_html_print(t, "<div class=\"card\"><h3>Settings that differ</h3>");
        if (!s.rows) mo_html_print(t, "<p>None: the runs have the same settings.</p>");
    } else {
        mo_html_print(t, "<details><summary>Settings</summary>");
    }
    if (s.rows && !rows.failed) {
        mo_html_print(t, "<table class=\"facts\">");
        mo_report_head(t, run, count);
        mo_text_add(t, rows.data, (size_t)rows.bytes);
        mo_html_print(t, "</table>");
    }
    mo_html_print(t, only_differences ? "</div>\n" : "</details>\n");
    if (rows.failed) t->failed = true;
    mo_text_destroy(&rows);
}

void mo_report_scenes(mo_text *t, const mo_report_run *run, int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        const char *text = mo_report_word(&run[k], "scene.text");
        int32_t same = 0;
        while (same < k && strcmp(mo_report_word(&run[same], "scene.text"), text) != 0) same++;
        if (same < k || !*text) continue; // shown with an earlier run
        mo_html_print(t, "<details><summary>Scene");
        for (int32_t j = k, n = 0; j < count && count > 1; j++) {
            if (strcmp(mo_report_word(&run[j], "scene.text"), text) != 0) continue;
            mo_html_print(t, n++ ? ", " : " of ");
            mo_html_escape(t, run[j].label, strlen(run[j].label));
        }
        mo_html_print(t, "</summary><pre>");
        mo_html_escape(t, text, strlen(text));
        mo_html_print(t, "</pre></details>\n");
    }
}
