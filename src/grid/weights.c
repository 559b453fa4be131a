// Volume weights of viscous liquids: one pass over the tiles, each from its half cells (grid/halves.h). Walls take
// their half cells first, then the solids in their order; each takes its part of the rest.
#include "grid/weights.h"
#include "grid/halves.h"
#include "grid/meet.h"
#include "base/parallel.h"
#include <math.h>
#include <string.h>

enum { FIELDS = 3 * MO_SAMPLE_KINDS };

// ---- Memory ----

// The fields, then one number per tile.
static size_t field_bytes(int64_t cells)
{
    return sizeof(float) * FIELDS * (size_t)cells + sizeof(int32_t) * (size_t)(cells / MO_TILE_CELLS);
}

// Nothing of an earlier call is kept, so old memory is freed before new memory is taken.
static mo_status reserve_fields(mo_weights *w, int32_t tiles, mo_error *err)
{
    int64_t cells = (int64_t)MO_TILE_CELLS * (tiles > 0 ? tiles : 1);
    if (cells > w->capacity) {
        cells += cells / (4 * MO_TILE_CELLS) * MO_TILE_CELLS;
        mo_free(w->memory);
        w->memory = mo_alloc(field_bytes(cells));
        w->capacity = w->memory ? cells : 0;
    }
    for (int kind = 0; kind < MO_SAMPLE_KINDS; kind++) {
        float *first = w->memory ? w->memory + kind * w->capacity : NULL;
        int64_t group = MO_SAMPLE_KINDS * w->capacity;
        w->liquid[kind] = first;
        w->fluid[kind] = first ? first + group : NULL;
        w->stick[kind] = first ? first + 2 * group : NULL;
    }
    return w->memory ? MO_OK : mo_fail_memory(err);
}

static mo_status reserve_covers(mo_weights *w, int64_t covers, mo_error *err)
{
    if (covers <= w->cover_capacity) return MO_OK;
    mo_free(w->cover);
    covers += covers / 4;
    w->cover = mo_alloc(sizeof *w->cover * (size_t)covers);
    w->cover_capacity = w->cover ? covers : 0;
    return w->cover ? MO_OK : mo_fail_memory(err);
}

void mo_weights_destroy(mo_weights *w)
{
    mo_free(w->memory);
    mo_free(w->cover);
    *w = (mo_weights){0};
}

// ---- Walls ----

// Along each axis, the half cells beyond a closed wall, and beyond one that holds the liquid.
typedef struct walls {
    bool closed[3][MO_HALVES], stick[3][MO_HALVES];
    bool any;
} walls;

static walls find_walls(const mo_grid *g, const mo_solid_set *solids, int32_t tile)
{
    walls w = {.any = false};
    for (int a = 0; a < mo_grid_axes(g); a++)
        for (int h = 0; h < MO_HALVES; h++) {
            int32_t at = 2 * MO_TILE * g->coord[tile][a] + h - 2;
            bool low = at < 2 * MO_MARGIN, high = at >= 2 * (g->n[a] - MO_MARGIN);
            if (!low && !high) continue;
            int side = 2 * a + high;
            w.closed[a][h] = !solids->open_wall[side];
            w.stick[a][h] = !solids->open_wall[side] && !solids->slip_wall[side];
            w.any |= w.closed[a][h];
        }
    return w;
}

static void close_halves(const walls *w, mo_halves *left, mo_halves *stick)
{
    float open[MO_HALVES], held[MO_HALVES]; // of a row that no wall closes as a whole
    for (int x = 0; x < MO_HALVES; x++) open[x] = !w->closed[0][x], held[x] = w->stick[0][x];
    for (int z = 0; z < MO_HALVES; z++)
        for (int y = 0; y < MO_HALVES; y++) {
            bool closed = w->closed[1][y] || w->closed[2][z], sticks = w->stick[1][y] || w->stick[2][z];
            for (int x = 0; x < MO_HALVES; x++) {
                left->part[z][y][x] = closed ? 0 : open[x];
                stick->part[z][y][x] = sticks ? 1 : held[x];
            }
        }
}

// ---- Tiles ----

static void tile_fields(float *const field[MO_SAMPLE_KINDS], int32_t tile, float *out[MO_SAMPLE_KINDS])
{
    for (int kind = 0; kind < MO_SAMPLE_KINDS; kind++) out[kind] = field[kind] + (int64_t)tile * MO_TILE_CELLS;
}

// ---- Faces at the surface ----
//
// Walls and solids take their part of the liquid in the tent of a face, not of the box round the face. Both are the
// same under the surface. Then open liquid has its true weight, bodies displace exactly the liquid that they cover, and
// a face whose liquid is all inside a solid moves with that solid. With parts of the box a body whose top or bottom
// lies near the surface would be lifted too little by up to 2%.

// Rounds a part to steps as fine as those of boxes (halves.h), so that the difference to 1 is exact.
static float snapped(float part)
{
    float near = 0x1p-24f * rintf(0x1p24f * part);
    return near < 1e-6f ? 0 : near > 1 - 1e-6f ? 1 : near;
}

// Whether the box round a face of a tile has half cells beyond a closed wall. Such faces move with the wall.
static bool meets_wall(const walls *w, int axis, int i)
{
    const int at[3] = {2 + 2 * (i & 7), 2 + 2 * (i >> 3 & 7), 2 + 2 * (i >> 6)};
    for (int a = 0; a < 3 && w->any; a++)
        if (w->closed[a][a == axis ? at[a] - 1 : at[a]] || w->closed[a][a == axis ? at[a] : at[a] + 1]) return true;
    return false;
}

typedef struct surface { // of one tile
    const mo_wet *wet;
    float *tent[MO_SAMPLE_KINDS];
    uint16_t face[3 * MO_TILE_CELLS]; // whose liquid solids share, as in mo_wet
    int faces;
} surface;

static void find_surface(const walls *beyond, const mo_wet *wet, surface *s)
{
    s->wet = wet, s->faces = 0;
    for (int k = 0; wet->cut && k < wet->faces; k++)
        if (!meets_wall(beyond, wet->face[k] / MO_TILE_CELLS, wet->face[k] % MO_TILE_CELLS))
            s->face[s->faces++] = wet->face[k];
}

// The parts that a solid takes.
static void share_liquid(const surface *s, const mo_halves *taken, mo_cover *cover)
{
    for (int k = 0; k < s->faces; k++) {
        int face = s->face[k], axis = face / MO_TILE_CELLS, i = face % MO_TILE_CELLS;
        cover->part[axis][i] = snapped(mo_wet_share(s->wet, taken, face) / s->tent[MO_SAMPLE_FACE + axis][i]);
    }
}

// The cover that takes most of a face.
static mo_cover *largest_cover(mo_cover *cover, const mo_cover *end, int axis, int i)
{
    mo_cover *most = NULL;
    for (; cover < end; cover++)
        if (cover->solid >= 0 && cover->part[axis][i] > (most ? most->part[axis][i] : 0)) most = cover;
    return most;
}

// Finds the parts that the covers leave open of these faces; a rest that is too small goes to the largest cover.
static void leave_open(const surface *s, const mo_solid_set *solids, mo_cover *cover, const mo_cover *end,
                       float *const *fluid, float *const *stick)
{
    for (int n = 0; n < s->faces; n++) {
        int axis = s->face[n] / MO_TILE_CELLS, i = s->face[n] % MO_TILE_CELLS;
        mo_cover *most = largest_cover(cover, end, axis, i);
        float open = 1, held = 0;
        for (const mo_cover *k = cover; k < end; k++) open -= k->solid >= 0 ? k->part[axis][i] : 0;
        if (most && open < 1e-6f) most->part[axis][i] += open, open = 0;
        for (const mo_cover *k = cover; k < end; k++)
            if (k->solid >= 0 && !(solids->slip && solids->slip[k->solid])) held += k->part[axis][i];
        fluid[MO_SAMPLE_FACE + axis][i] = open, stick[MO_SAMPLE_FACE + axis][i] = held;
    }
}

// Fills the cover of the half cells that a solid takes; if it takes nothing of any face, there is no cover (solid =
// -1).
static void cover_tile(bool flat, const surface *s, int32_t tile, int32_t solid, const mo_halves *taken,
                       mo_cover *cover)
{
    MO_ASSERT(solid >= 0);
    float *out[MO_SAMPLE_KINDS] = {NULL, cover->part[0], cover->part[1], cover->part[2]}, most = 0;
    mo_halves_gather(flat, taken, out);
    share_liquid(s, taken, cover);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < MO_TILE_CELLS; i++) most = mo_maxf(most, cover->part[a][i]);
    cover->tile = tile, cover->solid = most > 0 ? solid : -1;
}

// Liquid that slips along a solid must be able to pass it: the volumes of u and v faces average an inclined surface
// over different boxes, and a velocity along it would have a divergence of u/dx (docs/validation). Areas have none.
static void open_slippery_faces(const mo_grid *g, const mo_solid_set *solids, const mo_gathered *gathered,
                                mo_cover *cover, float *const fluid[MO_SAMPLE_KINDS],
                                float *const stick[MO_SAMPLE_KINDS])
{
    float area[3][MO_TILE_CELLS];
    mo_areas_solid(g, solids, cover->solid, cover->tile, gathered, area);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < MO_TILE_CELLS; i++) {
            float *f = &fluid[MO_SAMPLE_FACE + a][i], rest = 1 - stick[MO_SAMPLE_FACE + a][i];
            float taken = cover->part[a][i], closed = rest - *f - taken; // by walls and other solids that slip
            if (area[a][i] == taken || (closed > 0 && taken == 0)) continue;
            float open = mo_minf(mo_maxf(rest - closed - area[a][i], 0), rest);
            *f = open < 1e-6f ? 0 : open;
            cover->part[a][i] = mo_maxf(rest - closed - *f, 0);
        }
}

// How many solids take a part of each sample of a tile.
typedef struct takers {
    uint8_t count[MO_SAMPLE_KINDS][MO_TILE_CELLS];
} takers;

static void count_taker(bool flat, const mo_halves *taken, takers *t)
{
    float part[MO_SAMPLE_KINDS][MO_TILE_CELLS], *out[MO_SAMPLE_KINDS];
    for (int kind = 0; kind < MO_SAMPLE_KINDS; kind++) out[kind] = part[kind];
    mo_halves_gather(flat, taken, out);
    for (int kind = 0; kind < MO_SAMPLE_KINDS; kind++)
        for (int i = 0; i < MO_TILE_CELLS; i++)
            if (part[kind][i] > 0 && t->count[kind][i] < 2) t->count[kind][i]++;
}

// Whether a cell of a tile lies next to a closed wall, on either side.
static bool beside_wall(const mo_grid *g, const mo_solid_set *solids, int32_t tile, int i)
{
    int at[3] = {i & 7, i >> 3 & 7, i >> 6};
    for (int a = 0; a < mo_grid_axes(g); a++) {
        int32_t c = MO_TILE * g->coord[tile][a] + at[a], low = c - MO_MARGIN, high = g->n[a] - MO_MARGIN - 1 - c;
        if (low <= 0 && !solids->open_wall[2 * a]) return true;
        if (high <= 0 && !solids->open_wall[2 * a + 1]) return true;
    }
    return false;
}

// Closes slits between solids and along walls (grid/meet.h): the open rest of a face goes to the solid that covers most
// of it; that of other samples goes to solids to which the liquid sticks, if there are any. A sample of which a single
// solid leaves little open is the rim of its surface and stays open: if it were closed, it would hold all of the faces
// beside it.
static void close_slits(const mo_grid *g, const mo_solid_set *solids, int32_t tile, const takers *t, mo_cover *cover,
                        const mo_cover *end, float *const fluid[MO_SAMPLE_KINDS], float *const stick[MO_SAMPLE_KINDS])
{
    for (int kind = 0; kind < MO_SAMPLE_KINDS; kind++)
        for (int i = 0; i < MO_TILE_CELLS; i++) {
            float *f = &fluid[kind][i], *held = &stick[kind][i];
            if (*f <= 0 || *f >= (float)MO_SLIT) continue;
            if (t->count[kind][i] < 2 && !beside_wall(g, solids, tile, i)) continue;
            bool face = kind >= MO_SAMPLE_FACE && kind<MO_SAMPLE_EDGE, sticks = *held> 0;
            mo_cover *most = face ? largest_cover(cover, end, kind - MO_SAMPLE_FACE, i) : NULL;
            if (face && !most) continue;
            if (most) most->part[kind - MO_SAMPLE_FACE][i] += *f;
            if (most) sticks = !(solids->slip && solids->slip[most->solid]);
            if (sticks) *held += *f;
            *f = 0;
        }
}

// The fluid's side of a tile that `near` solids may touch; their covers go to the places given.
static void fluid_tile(const mo_grid *g, const mo_solid_set *solids, int32_t tile, int32_t near, const mo_wet *wet,
                       mo_weights *w, mo_cover *cover)
{
    walls beyond = find_walls(g, solids, tile);
    bool flat = mo_grid_is_2d(g);
    float *fluid[MO_SAMPLE_KINDS], *stick[MO_SAMPLE_KINDS];
    surface s;
    tile_fields(w->fluid, tile, fluid);
    tile_fields(w->stick, tile, stick);
    tile_fields(w->liquid, tile, s.tent);
    if (near == 0 && !beyond.any) {
        mo_halves_fill(flat, 1, fluid);
        mo_halves_fill(flat, 0, stick);
        return;
    }
    mo_halves left, held, taken;
    mo_cover *first = cover, *end = cover;
    mo_gathered gathered = {.count = 0};
    takers t;
    memset(&t, 0, sizeof t);
    bool several = near > 1;
    close_halves(&beyond, &left, &held);
    find_surface(&beyond, wet, &s);
    for (int32_t n = 0; near > 0 && n < solids->count; n++) {
        if (!mo_halves_solid(g, solids, n, tile, wet->cut ? -2 : -1, &taken)) continue;
        mo_halves_meet(g, solids, n, tile, &gathered, &left, &taken);
        mo_halves_take(flat, &left, &taken);
        if (!(solids->slip && solids->slip[n])) mo_halves_add(flat, &taken, &held);
        cover_tile(flat, &s, tile, n, &taken, end++);
        if (several) count_taker(flat, &taken, &t);
        near--;
    }
    mo_halves_gather(flat, &left, fluid);
    mo_halves_gather(flat, &held, stick);
    leave_open(&s, solids, first, end, fluid, stick);
    for (; cover < end; cover++)
        if (cover->solid >= 0 && solids->slip && solids->slip[cover->solid])
            open_slippery_faces(g, solids, &gathered, cover, fluid, stick);
    close_slits(g, solids, tile, &t, first, end, fluid, stick);
}

static int32_t squeeze_covers(mo_cover *cover, int64_t count)
{
    int32_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (cover[i].solid < 0) continue;
        if (kept < i) cover[kept] = cover[i];
        kept++;
    }
    return kept;
}

mo_status mo_weights_compute(const mo_grid *g, const float *phi, const mo_solid_set *solids, mo_weights *w,
                             mo_error *err)
{
    MO_ASSERT(solids->count == 0 || solids->distance);
    w->covers = 0;
    MO_TRY(reserve_fields(w, g->tiles, err));
    // Places for the covers of all solids near each tile.
    int32_t *place = (int32_t *)(w->memory + FIELDS * w->capacity);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < g->tiles; t++) {
        place[t] = 0;
        for (int32_t n = 0; n < solids->count; n++) place[t] += mo_halves_near(g, solids, n, t);
    }
    int64_t places = mo_prefix_sum(g->tiles, place);
    MO_TRY(reserve_covers(w, places, err));
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < g->tiles; t++) {
        int64_t end = t + 1 < g->tiles ? place[t + 1] : places;
        float *liquid[MO_SAMPLE_KINDS];
        tile_fields(w->liquid, t, liquid);
        mo_wet wet;
        mo_liquid_tile(g, phi, t, &wet, liquid);
        fluid_tile(g, solids, t, (int32_t)(end - place[t]), &wet, w, w->cover ? w->cover + place[t] : NULL);
    }
    w->covers = squeeze_covers(w->cover, places);
    return MO_OK;
}
