// HTML text and numbers as people read them.
#include "report/report.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mo_html_print(mo_text *t, const char *format, ...)
{
    char small[512];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n >= 0 && n < (int)sizeof small) {
        mo_text_add(t, small, (size_t)n);
    } else {
        char *big = n < 0 ? NULL : mo_alloc((size_t)n + 1);
        if (big) {
            vsnprintf(big, (size_t)n + 1, format, again);
            mo_text_add(t, big, (size_t)n);
        } else {
            t->failed = true;
        }
        mo_free(big);
    }
    va_end(again);
}

void mo_html_escape(mo_text *t, const char *text, size_t bytes)
{
    size_t plain = 0;
    for (size_t i = 0; i <= bytes; i++) {
        const char *instead = NULL;
        unsigned char c = i < bytes ? (unsigned char)text[i] : 0;
        if (c == '&') instead = "&amp;";
        if (c == '<') instead = "&lt;";
        if (c == '>') instead = "&gt;";
        if (c == '"') instead = "&quot;";
        if (c < 0x20 && c != '\n' && c != '\t') instead = "\xef\xbf\xbd"; // no page may hold control characters
        if (i < bytes && !instead) continue;
        mo_text_add(t, text + plain, i - plain);
        if (i < bytes) mo_text_add(t, instead, strlen(instead));
        plain = i + 1;
    }
}

// ---- Numbers ----

static const char minus[] = "\xe2\x88\x92", narrow_space[] = "\xe2\x80\xaf";

void mo_html_fixed(mo_text *t, double value, int decimals)
{
    MO_ASSERT(decimals >= 0);
    char text[400];
    int n = snprintf(text, sizeof text, "%.*f", decimals, fabs(value));
    MO_ASSERT(n > 0 && n < (int)sizeof text);
    bool zero = true;
    for (int i = 0; i < n; i++) {
        if (text[i] >= '1' && text[i] <= '9') zero = false;
        if (text[i] < '0' || text[i] > '9') text[i] = '.'; // the locale's decimal point, one byte or more
    }
    char *point = strchr(text, '.'), *digits = strrchr(text, '.');
    if (value < 0 && !zero) mo_text_add(t, minus, 3);
    mo_text_add(t, text, point ? (size_t)(point - text) : (size_t)n);
    if (point) mo_text_add(t, digits, strlen(digits));
}

void mo_html_power(mo_text *t, int exponent)
{
    static const char *const digit[] = {"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
                                        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char text[16];
    snprintf(text, sizeof text, "%d", abs(exponent));
    mo_text_add(t, "10", 2);
    if (exponent < 0) mo_text_add(t, "\xe2\x81\xbb", 3);
    for (const char *c = text; *c; c++) mo_text_add(t, digit[*c - '0'], strlen(digit[*c - '0']));
}

// Decimal exponent of value rounded to `digits` significant digits: 9.996 has 1 with three of them.
static int exponent_of(double value, int digits)
{
    int e = (int)floor(log10(fabs(value)));
    double unit = pow(10, e - digits + 1);
    return round(fabs(value) / unit) >= pow(10, digits) ? e + 1 : e;
}

void mo_html_number(mo_text *t, double value, int digits)
{
    MO_ASSERT(digits > 0);
    if (!isfinite(value)) {
        mo_text_add(t, "\xe2\x80\x93", 3);
        return;
    }
    if (value == 0 || fabs(value) < 1e-300) {
        mo_text_add(t, "0", 1);
        return;
    }
    int e = exponent_of(value, digits);
    if (e >= 5 || e < -3) {
        double mantissa = value / pow(10, e);
        if (fabs(mantissa - 1) > 0.5 * pow(10, 1 - digits)) { // 10⁻⁶ needs no 1 before it
            mo_html_number(t, mantissa, digits);
            mo_text_add(t, "\xc3\x97", 2);
        }
        mo_html_power(t, e);
    } else {
        // Zeros at the end say nothing.
        int decimals = e >= digits - 1 ? 0 : digits - 1 - e;
        double unit = pow(10, decimals), rounded = round(value * unit);
        while (decimals > 0 && fmod(rounded, 10) == 0) rounded /= 10, decimals--;
        mo_html_fixed(t, value, decimals);
    }
}

void mo_html_count(mo_text *t, double value)
{
    if (!isfinite(value) || fabs(value) > 1e15) {
        mo_html_number(t, value, 4);
        return;
    }
    char text[32];
    int n = snprintf(text, sizeof text, "%lld", llabs((long long)value));
    if (value < 0) mo_text_add(t, minus, 3);
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0 && n > 4) mo_text_add(t, narrow_space, 3);
        mo_text_add(t, &text[i], 1);
    }
}

void mo_html_ratio(mo_text *t, double value, double reference)
{
    if (!(reference > 0) || !isfinite(value)) return;
    double ratio = value / reference;
    mo_html_print(t, "<small>\xc3\x97");
    if (ratio >= 0.1 && ratio < 100)
        mo_html_fixed(t, ratio, ratio < 10 ? 2 : 1);
    else
        mo_html_number(t, ratio, 2);
    mo_html_print(t, "</small>");
}

void mo_report_head(mo_text *t, const mo_report_run *run, int32_t count)
{
    if (count == 1) return;
    mo_html_print(t, "<thead><tr><th></th>");
    for (int32_t k = 0; k < count; k++) {
        mo_html_print(t, "<th><i class=\"c%d%s\"></i>", (int)(k % 8), k >= 8 ? " dash" : "");
        mo_html_escape(t, run[k].label, strlen(run[k].label));
        mo_html_print(t, "</th>");
    }
    mo_html_print(t, "</tr></thead>\n");
}
