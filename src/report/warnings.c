// The first thing on the page: what is wrong with the runs, from "warnings" of run.json, or that nothing is.
#include "report/report.h"
#include <string.h>

static void add_text(mo_text *t, const cJSON *item, const char *key)
{
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, key));
    if (word) mo_html_escape(t, word, strlen(word));
}

static double number(const cJSON *item, const char *key)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(item, key);
    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

static void add_moment(mo_text *t, const cJSON *item, const char *time, const char *step)
{
    mo_html_number(t, number(item, time), 4);
    mo_html_print(t, "\xc2\xa0s<small>step ");
    mo_html_count(t, number(item, step));
    mo_html_print(t, "</small>");
}

static void add_warning(mo_text *t, const mo_report_run *run, bool named, const cJSON *item)
{
    mo_html_print(t, "<tr>");
    if (named) {
        mo_html_print(t, "<td>");
        mo_html_escape(t, run->label, strlen(run->label));
        mo_html_print(t, "</td>");
    }
    mo_html_print(t, "<td><b>");
    add_text(t, item, "kind");
    mo_html_print(t, "</b></td><td>");
    add_text(t, item, "text");
    mo_html_print(t, "</td><td>");
    mo_html_count(t, number(item, "steps"));
    mo_html_print(t, " of ");
    mo_html_count(t, run->steps);
    mo_html_print(t, "</td><td>");
    add_moment(t, item, "first_time", "first_step");
    mo_html_print(t, "</td><td>");
    add_text(t, item, "worst_text");
    mo_html_print(t, "</td><td>");
    add_moment(t, item, "worst_time", "worst_step");
    mo_html_print(t, "</td></tr>\n");
}

void mo_report_warnings(mo_text *t, const mo_report_run *run, int32_t count)
{
    int32_t warnings = 0, silent = 0;
    for (int32_t k = 0; k < count; k++) {
        const cJSON *list = mo_report_get(&run[k], "warnings");
        warnings += cJSON_GetArraySize(list);
        silent += !cJSON_IsArray(list);
    }
    if (warnings == 0) {
        mo_html_print(t, "<p class=\"status %s\">%s</p>\n", silent ? "" : "done",
                      silent ? "Warnings were not recorded by the version that made the run" : "No warnings");
        return;
    }
    mo_html_print(t,
                  "<div class=\"card warned\"><h3>Warnings</h3><table class=\"facts\"><thead><tr>%s<th>kind</th>"
                  "<th>what</th><th>steps</th><th>first</th><th>worst</th><th>at</th></tr></thead>\n",
                  count > 1 ? "<th>run</th>" : "");
    for (int32_t k = 0; k < count; k++) {
        const cJSON *item;
        cJSON_ArrayForEach(item, mo_report_get(&run[k], "warnings")) add_warning(t, &run[k], count > 1, item);
    }
    mo_html_print(t, "</table></div>\n");
}
