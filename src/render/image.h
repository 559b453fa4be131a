// Pictures as files: the tone curve, PNG, and videos.
#ifndef MO_IMAGE_H
#define MO_IMAGE_H

#include "base/base.h"

// Turns linear light into 8-bit sRGB by exposure, a filmic curve (Narkowicz's fit of ACES) and the sRGB transfer
// function.
void mo_image_tone(const float *rgb, int64_t pixels, double exposure, uint8_t *out);

// A PNG in memory; free with mo_free.
mo_status mo_image_png(const uint8_t *rgb, int32_t width, int32_t height, void **data, size_t *bytes, mo_error *err);

// A video that grows picture by picture: H.264 in DIR/video.mp4 by ffmpeg, or an animated PNG in DIR/video.png.
typedef struct mo_video_file mo_video_file;
bool mo_video_has_ffmpeg(void);
mo_status mo_video_create(mo_video kind, const char *dir, int32_t width, int32_t height, double fps,
                          mo_video_file **out, mo_error *err);
// Adds a picture, which is given as pixels and as PNG.
mo_status mo_video_add(mo_video_file *v, const uint8_t *rgb, const void *png, size_t png_bytes, mo_error *err);
// Completes the file, or removes it if `keep` is false or something failed. Frees v in every case.
mo_status mo_video_finish(mo_video_file *v, bool keep, mo_error *err);
const char *mo_video_path(const mo_video_file *v);

#endif
