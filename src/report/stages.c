// Where the time went, and how the solves ended.
#include "report/report.h"
#include <math.h>
#include <string.h>

// ---- Stages: the union over the runs, in the order of their appearance ----

typedef struct stage_list {
    const char *name[MO_REPORT_STAGES];
    int32_t count;
} stage_list;

static int32_t find_stage(const stage_list *list, const char *name)
{
    int32_t i = 0;
    while (i < list->count && strcmp(list->name[i], name) != 0) i++;
    return i;
}

static stage_list all_stages(const mo_report_run *run, int32_t count)
{
    stage_list list = {.count = 0};
    for (int32_t k = 0; k < count; k++)
        for (int32_t i = 0; i < run[k].stage_count; i++)
            if (find_stage(&list, run[k].stage[i]) == list.count && list.count < MO_REPORT_STAGES)
                list.name[list.count++] = run[k].stage[i];
    return list;
}

static double stage_seconds(const mo_report_run *run, const char *name)
{
    for (int32_t i = 0; i < run->stage_count; i++)
        if (strcmp(run->stage[i], name) == 0) return mo_summarize(run->seconds[i], run->steps).sum;
    return 0;
}

static double all_seconds(const mo_report_run *run)
{
    return mo_summarize(run->value[MO_FIELD_WALL_SECONDS], run->steps).sum;
}

// One bar per run, as long as its time against the slowest.
static void add_bars(mo_text *t, const mo_report_run *run, int32_t count, const stage_list *stages)
{
    double longest = 0;
    for (int32_t k = 0; k < count; k++) longest = fmax(longest, all_seconds(&run[k]));
    for (int32_t k = 0; k < count && longest > 0; k++) {
        if (count > 1) {
            mo_html_print(t, "<div>");
            mo_html_escape(t, run[k].label, strlen(run[k].label));
            mo_html_print(t, "</div>");
        }
        mo_html_print(t, "<div class=\"bar\">");
        for (int32_t i = 0; i < stages->count; i++) {
            mo_html_print(t, "<span class=\"s%d\" style=\"width:", (int)(i % 10));
            char width[32];
            mo_format_double(round(1e4 * stage_seconds(&run[k], stages->name[i]) / longest) / 100, width);
            mo_html_print(t, "%s%%\" title=\"", width);
            mo_html_escape(t, stages->name[i], strlen(stages->name[i]));
            mo_html_print(t, "\"></span>");
        }
        mo_html_print(t, "</div>\n");
    }
}

static void add_stage_cell(mo_text *t, double seconds, double all, double first, bool ratio)
{
    mo_html_print(t, "<td>");
    mo_html_number(t, seconds, 3);
    mo_html_print(t, "\xc2\xa0s<small>");
    mo_html_fixed(t, all > 0 ? 100 * seconds / all : 0, 1);
    mo_html_print(t, "\xc2\xa0%%</small>");
    if (ratio) mo_html_ratio(t, seconds, first);
    mo_html_print(t, "</td>");
}

static void add_stage_table(mo_text *t, const mo_report_run *run, int32_t count, const stage_list *stages)
{
    mo_html_print(t, "<table class=\"facts numbers\">");
    mo_report_head(t, run, count);
    for (int32_t i = 0; i < stages->count; i++) {
        const char *name = stages->name[i];
        mo_html_print(t, "<tr><td><b class=\"key s%d\"></b>", (int)(i % 10));
        mo_html_escape(t, name, strlen(name));
        mo_html_print(t, "</td>");
        for (int32_t k = 0; k < count; k++)
            add_stage_cell(t, stage_seconds(&run[k], name), all_seconds(&run[k]), stage_seconds(&run[0], name), k > 0);
        mo_html_print(t, "</tr>\n");
    }
    mo_html_print(t, "</table>");
}

void mo_report_stages(mo_text *t, const mo_report_run *run, int32_t count)
{
    stage_list stages = all_stages(run, count);
    if (stages.count == 0) return;
    mo_html_print(t, "<h2>Where the time goes</h2>\n<div class=\"grid\">\n<div class=\"card\">"
                     "<h3>Wall time of the stages</h3>");
    add_bars(t, run, count, &stages);
    add_stage_table(t, run, count, &stages);
    // Several runs: the table of all above, a plot of each below.
    mo_html_print(t, count > 1 ? "</div>\n</div>\n<div class=\"grid\">\n" : "</div>\n");
    double top = 0;
    for (int32_t k = 0; k < count; k++) top = fmax(top, mo_plot_stages_top(&run[k]));
    for (int32_t k = 0; k < count; k++) {
        int32_t colour[MO_REPORT_STAGES];
        for (int32_t i = 0; i < run[k].stage_count; i++) colour[i] = find_stage(&stages, run[k].stage[i]);
        mo_plot_stages(t, &run[k], colour, top);
    }
    mo_html_print(t, "</div>\n");
}

// ---- Reasons ----

void mo_report_reasons(mo_text *t, const mo_report_run *run, int32_t count)
{
    int64_t unconverged = 0;
    for (int32_t k = 0; k < count; k++) unconverged += run[k].unconverged;
    if (!unconverged) return;
    mo_html_print(t, "<h2>How the solves ended</h2>\n<div class=\"card\"><table class=\"facts\">");
    for (int32_t k = 0; k < count; k++)
        for (int32_t i = 0; i < run[k].reason_count; i++) {
            int64_t n = run[k].reason_steps[i];
            mo_html_print(t, "<tr><td>");
            if (count > 1) mo_html_escape(t, run[k].label, strlen(run[k].label));
            if (count > 1) mo_html_print(t, "</td><td>");
            mo_html_escape(t, run[k].reason[i], strlen(run[k].reason[i]));
            mo_html_print(t, "</td><td style=\"width:60%%\"><span class=\"meter\" style=\"width:%d%%\"></span>",
                          (int)(80 * n / run[k].steps));
            mo_html_count(t, (double)n);
            mo_html_print(t, "<small>");
            mo_html_number(t, 100.0 * (double)n / run[k].steps, 3);
            mo_html_print(t, "\xc2\xa0%%</small></td></tr>\n");
        }
    mo_html_print(t, "</table></div>\n");
}
