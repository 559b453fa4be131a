// The tone curve, and PNG by libpng's simple interface.
#include "render/image.h"
#include <math.h>
#include <png.h>

static double filmic(double x) { return x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14); }

static double transfer(double x) { return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055; }

void mo_image_tone(const float *rgb, int64_t pixels, double exposure, uint8_t *out)
{
    MO_ASSERT(pixels >= 0);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < 3 * pixels; i++) {
        double x = filmic(0.75 * exposure * (rgb[i] > 0 ? rgb[i] : 0));
        out[i] = (uint8_t)(255 * transfer(x < 1 ? x : 1) + 0.5);
    }
}

mo_status mo_image_png(const uint8_t *rgb, int32_t width, int32_t height, void **data, size_t *bytes, mo_error *err)
{
    MO_ASSERT(width > 0 && height > 0);
    *data = NULL, *bytes = 0;
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_RGB};
    // Large enough for pixels that cannot be compressed.
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    void *png = mo_alloc(size);
    if (!png) return mo_fail_memory(err);
    if (!png_image_write_to_memory(&image, png, &size, 0, rgb, 0, NULL)) {
        mo_free(png);
        return mo_fail(err, MO_ERROR_FAILED, "cannot encode a picture of %d x %d: %s", width, height, image.message);
    }
    *data = png, *bytes = size;
    return MO_OK;
}
