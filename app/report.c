// monolith report: a page with plots of one run, or of several side by side.
#include "command.h"
#include "options.h"
#include <stdio.h>
#include <stdlib.h>

static const char purpose[] =
    "Writes one HTML page about the run in DIR: summary, settings, plots of volume, energy, momentum, iterations,\n"
    "residuals and time per stage, and pictures if the run was rendered. The page needs no network and no other file.\n"
    "Several directories are compared: the same axes, a colour for each run, ratios against the first.\n"
    "Exit codes: 0 written, 2 no usable run or no place to write to, 1 it failed (memory, disk).";
static const char examples[] = "  monolith report out/dam\n"
                               "  monolith run scenes/dam.lua -o out/fast\n"
                               "  monolith run scenes/dam.lua -o out/paper --set solver.route=paper\n"
                               "  monolith report out/fast out/paper -o routes.html\n";

int command_report(int argc, char **argv)
{
    text_list dirs = {calloc((size_t)argc + 1, sizeof(char *)), 1}; // the first is the positional argument
    const char *output = NULL;
    if (!dirs.item) return EXIT_FAILED;
    const option options[] = {
        {"--output", "-o", "FILE", "the page, default report.html in the first DIR", .text = &output},
        {0},
    };
    command_line line = {.usage = "report DIR [DIR ...] [options]",
                         .purpose = purpose,
                         .examples = examples,
                         .positional_name = "DIR",
                         .positional_required = true,
                         .more = &dirs,
                         .options = options};
    int code = parse_options(&line, argc, argv);
    if (code < 0) {
        mo_error err = {0};
        dirs.item[0] = line.positional;
        code = EXIT_DONE;
        if (mo_report_write(dirs.item, dirs.count, output, &err) != MO_OK)
            code = complain(&err);
        else if (output)
            printf("%s\n", output);
        else
            printf("%s/report.html\n", line.positional);
    }
    free(dirs.item);
    return code;
}
