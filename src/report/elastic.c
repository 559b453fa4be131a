// The table of elastic bodies: what each is made of (run.json) and how far it went (bodies.jsonl).
#include "report/report.h"
#include "base/vec.h"
#include <math.h>
#include <string.h>

typedef struct range { // of a body over the frames
    double energy, last, least, farthest;
} range;

static range look_through(const mo_report_run *run, int32_t elastic)
{
    range r = {NAN, NAN, NAN, NAN};
    mo_elastic_line first, line;
    bool begun = false;
    for (int32_t i = 0; i < mo_reader_frame_count(run->reader); i++) {
        if (!mo_reader_elastic_line(run->reader, elastic, mo_reader_frame(run->reader, i), &line)) continue;
        if (!begun) first = line, begun = true;
        r.energy = fmax(r.energy, line.elastic), r.last = line.elastic;
        r.least = fmin(r.least, line.least);
        r.farthest = fmax(r.farthest, mo_norm(mo_sub(line.pose.position, first.pose.position)));
    }
    return r;
}

static void add_number(mo_text *t, double value, const char *unit)
{
    mo_html_print(t, "<td>");
    mo_html_number(t, value, 4);
    if (*unit && isfinite(value)) mo_html_print(t, "\xc2\xa0%s", unit);
    mo_html_print(t, "</td>");
}

static double number_of(const cJSON *body, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(body, key);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static void add_body(mo_text *t, const mo_report_run *run, int32_t elastic, const cJSON *body, bool named)
{
    const char *name = mo_reader_elastic_name(run->reader, elastic);
    range r = look_through(run, elastic);
    mo_html_print(t, "<tr>");
    if (named) {
        mo_html_print(t, "<td>");
        mo_html_escape(t, run->label, strlen(run->label));
        mo_html_print(t, "</td>");
    }
    mo_html_print(t, "<td>");
    mo_html_escape(t, name, strlen(name));
    mo_html_print(t, "</td><td>");
    mo_html_count(t, number_of(body, "vertices"));
    mo_html_print(t, "<small>");
    mo_html_count(t, number_of(body, "elements"));
    mo_html_print(t, " elements</small></td>");
    add_number(t, number_of(body, "mass"), "kg");
    add_number(t, number_of(body, "young"), "Pa");
    add_number(t, number_of(body, "poisson"), "");
    add_number(t, r.energy, "J");
    add_number(t, r.last, "J");
    add_number(t, r.least, "");
    add_number(t, r.farthest, "m");
    mo_html_print(t, "</tr>\n");
}

void mo_report_elastics(mo_text *t, const mo_report_run *run, int32_t count)
{
    int32_t bodies = 0;
    for (int32_t k = 0; k < count; k++) bodies += cJSON_GetArraySize(mo_report_get(&run[k], "elastics"));
    if (!bodies) return;
    mo_html_print(t,
                  "<h2>Elastic bodies</h2>\n<div class=\"card\"><table class=\"facts\"><thead><tr>%s<th>body</th>"
                  "<th>vertices</th><th>mass</th><th>Young's modulus</th><th>Poisson's ratio</th><th>energy, most</th>"
                  "<th>last</th><th>least det F</th><th>centre moved</th></tr></thead>\n",
                  count > 1 ? "<th>run</th>" : "");
    for (int32_t k = 0; k < count; k++) {
        const cJSON *list = mo_report_get(&run[k], "elastics");
        for (int32_t i = 0; i < cJSON_GetArraySize(list); i++)
            add_body(t, &run[k], i, cJSON_GetArrayItem(list, i), count > 1);
    }
    mo_html_print(t, "</table></div>\n");
}
