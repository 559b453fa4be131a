// The state as one block of memory: a header, the poses of solids and shells, elastic bodies' vertices and the pressure
// round them, velocities of shells' vertices, contact forces, the particle arrays, the level set over the tiles that
// the liquid asks for and on the rows that shells add, and the liquid without particles; or the air.
#include "base/base.h"
#include "grid/sites.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

typedef struct header {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t checksum; // of everything, taken with 0 in its place
    int64_t particles, solids, contacts, tiles, step;
    int64_t elastics, vertices;            // elastic bodies, and all their vertices
    int64_t shells, shell_vertices, sides; // shells, all their vertices, and rows beyond the cells
    int64_t extras, gaps;                  // entries of fields beyond the cells, and gaps between sides
    int32_t frame, cells[3];
    int32_t per_axis, fields; // arrays per particle
    int32_t band, air;        // depth of the liquid with particles, 0: all of it; 1: there is air instead
    uint32_t meshes;          // checksum of the elastic bodies' meshes at rest, and of sheets; 0: there are none
    uint32_t form;            // of shells, 0: they cut cells
    int64_t deep_cells;
    double deep_volume, deep_moment[3];
    double time, given_speed;
    double soot, kick_step; // of air
    int64_t skipped;
    mo_account account;
    mo_warning_count warning[MO_WARNING_COUNT];
} header;

typedef struct solid_state {
    mo_pose pose;
    mo_vec3 velocity, angular_velocity;
    mo_vec3 kick_force, kick_torque; // of air
} solid_state;

static const char magic[8] = "MOSTATE";
enum { FORMAT_VERSION = 15 };

// FNV-1a over 64-bit words, the tail byte by byte, after data whose checksum is h; the word at `skip` counts as 0.
static uint64_t checksum_from(uint64_t h, const void *from, size_t bytes, const uint8_t *skip)
{
    const uint8_t *data = from;
    for (; bytes >= 8; bytes -= 8, data += 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        if (data == skip) word = 0;
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 29;
    }
    for (; bytes; bytes--) h = (h ^ *data++) * 0x100000001b3u;
    return h;
}

static const uint64_t start_of_checksum = 0xcbf29ce484222325u;

// The checksum of a state, in which its header's own checksum does not count.
static uint64_t checksum(const uint8_t *data, size_t bytes)
{
    return checksum_from(start_of_checksum, data, bytes, data + offsetof(header, checksum));
}

// Mesh files may change although the scene's text does not.
static uint32_t checksum_of_meshes(const mo_sim *sim)
{
    uint64_t h = start_of_checksum;
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        const mo_elastic_body *b = &sim->elastics.body[k].body;
        h = checksum_from(h, b->rest, sizeof(mo_vec3) * (size_t)b->vertices, NULL);
        h = checksum_from(h, b->corner, sizeof(int32_t) * (size_t)b->corners * (size_t)b->elements, NULL);
    }
    for (int32_t k = 0; k < sim->shells.count - sim->shells.cloths; k++) {
        const mo_sheet *s = &sim->shells.shell[k].sheet;
        h = checksum_from(h, s->position, sizeof *s->position * (size_t)s->vertices, NULL);
        h = checksum_from(h, s->triangle, sizeof *s->triangle * (size_t)s->triangles, NULL);
    }
    return sim->elastics.count + sim->shells.count ? (uint32_t)(h ^ h >> 32) : 0;
}

static size_t level_bytes(int64_t tiles) { return sizeof(float) * MO_TILE_CELLS * (size_t)tiles; }

// Liquid without particles: coordinates of the tiles, which cells are deep, velocities.
static size_t band_bytes(int32_t band, int64_t tiles)
{
    return band ? (3 * sizeof(int32_t) + MO_TILE_CELLS) * (size_t)tiles + 3 * level_bytes(tiles) : 0;
}

// Air: coordinates of the tiles, the gas's fields, velocities of gaps, for how long each tile was quiet.
static size_t gas_bytes(const header *h) { return level_bytes(h->tiles) + sizeof(float) * (size_t)h->extras; }
static size_t air_bytes(const header *h)
{
    return h->air ? (3 * sizeof(int32_t) + 1) * (size_t)h->tiles + MO_GAS_FIELDS * gas_bytes(h) +
                        2 * sizeof(float) * (size_t)h->gaps
                  : 0;
}

static size_t state_bytes(const header *h)
{
    return air_bytes(h) + band_bytes(h->band, h->tiles) + 2 * level_bytes(h->tiles) + sizeof(header) +
           sizeof(solid_state) * (size_t)(h->solids + h->shells) +
           (h->air ? 3 : 2) * sizeof(mo_vec3) * (size_t)h->vertices + 3 * sizeof(double) * (size_t)h->shell_vertices +
           2 * sizeof(float) * (size_t)h->sides + sizeof(double) * (size_t)h->elastics +
           sizeof(mo_kept_contact) * (size_t)h->contacts +
           ((size_t)h->fields * sizeof(float) + sizeof(int32_t)) * (size_t)h->particles;
}

static int64_t vertices_of(const mo_sim *sim)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < sim->elastics.count; k++) sum += sim->elastics.body[k].body.vertices;
    return sum;
}

// Forces of air on the vertices of cloth, of which the next step applies half.
static size_t kick_bytes(const mo_sim *sim, int32_t k)
{
    const mo_elastic *e = &sim->elastics.body[k];
    return sim->air.present && e->kick ? sizeof(double) * (size_t)mo_elastic_unknowns(&e->body) : 0;
}

// Writes places and velocities of the vertices of elastic bodies; returns the place behind them.
static uint8_t *save_elastics(const mo_sim *sim, uint8_t *at)
{
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        const mo_elastic_body *b = &sim->elastics.body[k].body;
        size_t bytes = sizeof(mo_vec3) * (size_t)b->vertices;
        memcpy(at, b->position, bytes), memcpy(at + bytes, b->velocity, bytes);
        memcpy(at + 2 * bytes, &sim->elastics.body[k].pressure, sizeof(double));
        at += 2 * bytes + sizeof(double);
        if (kick_bytes(sim, k)) memcpy(at, sim->elastics.body[k].kick, kick_bytes(sim, k));
        at += kick_bytes(sim, k);
    }
    return at;
}

static const uint8_t *load_elastics(mo_sim *sim, const uint8_t *at)
{
    for (int32_t k = 0; k < sim->elastics.count; k++) {
        mo_elastic_body *b = &sim->elastics.body[k].body;
        size_t bytes = sizeof(mo_vec3) * (size_t)b->vertices;
        memcpy(b->position, at, bytes), memcpy(b->velocity, at + bytes, bytes);
        memcpy(&sim->elastics.body[k].pressure, at + 2 * bytes, sizeof(double));
        at += 2 * bytes + sizeof(double);
        if (kick_bytes(sim, k)) memcpy(sim->elastics.body[k].kick, at, kick_bytes(sim, k));
        at += kick_bytes(sim, k);
    }
    return at;
}

// Where shells are; their vertices follow from it.
// The entry of a shell among the solids; NULL: it has none.
static mo_solid *shell_entry(const mo_sim *sim, int32_t shell)
{
    return sim->shell_solids ? &sim->solids[sim->solid_count - sim->shell_solids + shell] : NULL;
}

static const uint8_t *load_shells(mo_sim *sim, const uint8_t *at)
{
    mo_shells *shells = &sim->shells;
    for (int32_t s = 0; s < shells->count; s++) {
        solid_state state;
        memcpy(&state, at + sizeof state * (size_t)s, sizeof state);
        shells->shell[s].pose = state.pose;
    }
    if (shells->count) mo_shells_place(shells);
    for (int32_t s = 0; s < shells->count; s++, at += sizeof(solid_state)) {
        solid_state state;
        memcpy(&state, at, sizeof state);
        shells->shell[s].velocity = state.velocity, shells->shell[s].angular_velocity = state.angular_velocity;
        mo_solid *entry = shell_entry(sim, s);
        if (entry) entry->kick_force = state.kick_force, entry->kick_torque = state.kick_torque;
    }
    return at;
}

// Velocities of the vertices of shells in the last step: the length of the next step depends on them.
static uint8_t *save_shell_velocities(const mo_shells *s, uint8_t *at)
{
    size_t bytes = sizeof *s->velocity * (size_t)s->all.vertices;
    if (bytes) memcpy(at, s->velocity, bytes);
    return at + bytes;
}
static const uint8_t *load_shell_velocities(mo_shells *s, const uint8_t *at)
{
    size_t bytes = sizeof *s->velocity * (size_t)s->all.vertices;
    if (bytes) memcpy(s->velocity, at, bytes);
    return at + bytes;
}

// The level set on rows beyond the cells.
static size_t sides_bytes(const mo_sim *sim)
{
    return sizeof(float) * (size_t)(mo_grid_rows(sim->grid) - mo_grid_cells(sim->grid));
}
static void save_sides(const mo_sim *sim, uint8_t *at)
{
    size_t bytes = sides_bytes(sim);
    if (!bytes) return;
    memcpy(at, sim->level.phi + mo_grid_cells(sim->grid), bytes);
    memcpy(at + bytes, sim->level.press + mo_grid_cells(sim->grid), bytes);
}
static mo_status load_sides(mo_sim *sim, const header *h, const uint8_t *at, mo_error *err)
{
    size_t bytes = sides_bytes(sim);
    if (bytes != sizeof(float) * (size_t)h->sides)
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: its shells cut cells into %lld sides more, these into %d",
                       (long long)h->sides, (int)(bytes / sizeof(float)));
    if (!bytes) return MO_OK;
    memcpy(sim->level.phi + mo_grid_cells(sim->grid), at, bytes);
    memcpy(sim->level.press + mo_grid_cells(sim->grid), at + bytes, bytes);
    return MO_OK;
}

// Works before the first particle too, when the number is not set yet.
static int32_t fields_of(const mo_sim *sim) { return sim->particles.fields ? sim->particles.fields : MO_PLAIN_FIELDS; }

static void save_band(const mo_sim *sim, uint8_t *at)
{
    size_t tiles = (size_t)sim->level.tiles, coords = 3 * sizeof(int32_t) * tiles;
    memcpy(at, sim->grid->coord, coords);
    memcpy(at + coords, sim->band.deep, MO_TILE_CELLS * tiles);
    at += coords + MO_TILE_CELLS * tiles;
    for (int a = 0; a < 3; a++, at += level_bytes((int64_t)tiles))
        memcpy(at, sim->band.u[a], level_bytes((int64_t)tiles));
}

static bool in_lattice(const mo_sim *sim, const int32_t coord[3])
{
    for (int a = 0; a < 3; a++)
        if (coord[a] < 0 || coord[a] >= sim->grid->tn[a]) return false;
    return true;
}

static mo_status fail_tile(mo_error *err)
{
    return mo_fail(err, MO_ERROR_INPUT, "checkpoint: a tile lies outside the lattice");
}

static int64_t gaps_of(const mo_sim *sim) { return sim->grid->sites ? sim->grid->sites->gaps : 0; }

static void save_air(const mo_sim *sim, const header *h, uint8_t *at)
{
    size_t tiles = (size_t)h->tiles, coords = 3 * sizeof(int32_t) * tiles;
    memcpy(at, sim->grid->coord, coords);
    at += coords;
    for (int f = 0; f < MO_GAS_FIELDS; f++, at += gas_bytes(h)) memcpy(at, sim->air.gas.field[f], gas_bytes(h));
    size_t gaps = sizeof(float) * (size_t)h->gaps;
    for (int k = 0; k < 2 && gaps; k++, at += gaps) memcpy(at, sim->air.gas.gap[k], gaps);
    memcpy(at, sim->air.quiet, tiles);
}

// Activates exactly the tiles that were saved.
static mo_status want_air(const mo_sim *sim, const uint8_t *at, int64_t tiles, mo_error *err)
{
    for (int64_t t = 0; t < tiles; t++) {
        int32_t coord[3], lo[3], hi[3];
        memcpy(coord, at + sizeof coord * (size_t)t, sizeof coord);
        if (!in_lattice(sim, coord)) return fail_tile(err);
        for (int a = 0; a < 3; a++) lo[a] = MO_TILE * coord[a], hi[a] = lo[a];
        mo_grid_want(sim->grid, lo, hi);
    }
    return MO_OK;
}

static mo_status load_air(mo_sim *sim, const header *h, const uint8_t *at, mo_error *err)
{
    mo_air *air = &sim->air;
    at += 3 * sizeof(int32_t) * (size_t)h->tiles;
    if (h->extras != mo_grid_fields(sim->grid) - mo_grid_cells(sim->grid) || h->gaps != gaps_of(sim))
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: its shells cut the grid in another way");
    MO_TRY(mo_gas_reserve(&air->gas, mo_grid_fields(sim->grid), err));
    if (!mo_reserve((void **)&air->quiet, &air->quiet_capacity, h->tiles + 1, 1)) return mo_fail_memory(err);
    for (int f = 0; f < MO_GAS_FIELDS; f++, at += gas_bytes(h)) memcpy(air->gas.field[f], at, gas_bytes(h));
    MO_TRY(mo_gas_reserve_gaps(&air->gas, sim->grid, err));
    size_t gaps = sizeof(float) * (size_t)h->gaps;
    for (int k = 0; k < 2 && gaps; k++, at += gaps) memcpy(air->gas.gap[k], at, gaps);
    memcpy(air->quiet, at, (size_t)h->tiles);
    air->soot = h->soot, air->gas.kick_step = h->kick_step, air->skipped = h->skipped;
    return MO_OK;
}

// Activates the tiles round deep cells.
static mo_status want_band(const mo_sim *sim, const uint8_t *at, int64_t tiles, mo_error *err)
{
    const uint8_t *deep = at + 3 * sizeof(int32_t) * (size_t)tiles;
    for (int64_t t = 0; t < tiles; t++, deep += MO_TILE_CELLS) {
        int32_t coord[3];
        memcpy(coord, at + sizeof coord * (size_t)t, sizeof coord);
        if (!in_lattice(sim, coord)) return fail_tile(err);
        mo_band_want_tile(deep, coord, sim->grid);
    }
    return MO_OK;
}

static mo_status load_band(mo_sim *sim, const header *h, const uint8_t *at, mo_error *err)
{
    size_t tiles = (size_t)h->tiles;
    at += 3 * sizeof(int32_t) * tiles;
    MO_TRY(mo_band_reserve(&sim->band, mo_grid_cells(sim->grid), err));
    memcpy(sim->band.deep, at, MO_TILE_CELLS * tiles);
    at += MO_TILE_CELLS * tiles;
    for (int a = 0; a < 3; a++, at += level_bytes(h->tiles)) memcpy(sim->band.u[a], at, level_bytes(h->tiles));
    return MO_OK;
}

mo_status mo_sim_save(const mo_sim *sim, void **data, size_t *bytes, mo_error *err)
{
    const mo_particles *p = &sim->particles;
    header h = {.version = FORMAT_VERSION,
                .header_bytes = sizeof h,
                .particles = p->count,
                .solids = sim->def.solid_count,
                .contacts = sim->kept_count,
                .tiles = sim->level.tiles,
                .step = sim->step,
                .fields = fields_of(sim),
                .band = sim->band.depth,
                .meshes = checksum_of_meshes(sim),
                .form = sim->shells.count ? (uint32_t)sim->def.solver.shells : 0,
                .deep_cells = sim->band.cells,
                .deep_volume = sim->band.volume,
                .air = sim->air.present,
                .soot = sim->air.soot,
                .kick_step = sim->air.gas.kick_step,
                .skipped = sim->air.skipped,
                .elastics = sim->elastics.count,
                .vertices = vertices_of(sim),
                .shells = sim->shells.count,
                .shell_vertices = sim->shells.all.vertices,
                .sides = mo_grid_rows(sim->grid) - mo_grid_cells(sim->grid),
                .extras = mo_grid_fields(sim->grid) - mo_grid_cells(sim->grid),
                .gaps = gaps_of(sim)};
    *bytes = state_bytes(&h);
    uint8_t *block = mo_calloc(*bytes);
    if (!block) return mo_fail_memory(err);
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.cells, sim->cells, sizeof h.cells);
    memcpy(h.deep_moment, sim->band.moment, sizeof h.deep_moment);
    h.frame = sim->frame, h.per_axis = sim->def.particles_per_axis, h.time = sim->time;
    h.account = sim->account;
    h.given_speed = sim->given_speed;
    memcpy(h.warning, sim->warning, sizeof h.warning);
    uint8_t *at = block + sizeof h;
    for (int32_t s = 0; s < sim->def.solid_count; s++, at += sizeof(solid_state)) {
        const mo_solid *from = &sim->solids[s];
        solid_state state = {from->pose, from->velocity, from->angular_velocity, from->kick_force, from->kick_torque};
        memcpy(at, &state, sizeof state);
    }
    for (int32_t s = 0; s < sim->shells.count; s++, at += sizeof(solid_state)) {
        const mo_shell *from = &sim->shells.shell[s];
        solid_state state = {
            .pose = from->pose, .velocity = from->velocity, .angular_velocity = from->angular_velocity};
        const mo_solid *entry = shell_entry(sim, s);
        if (entry) state.kick_force = entry->kick_force, state.kick_torque = entry->kick_torque;
        memcpy(at, &state, sizeof state);
    }
    at = save_shell_velocities(&sim->shells, save_elastics(sim, at));
    size_t contacts = sizeof(mo_kept_contact) * (size_t)sim->kept_count, array = sizeof(float) * (size_t)p->count;
    if (contacts) memcpy(at, sim->kept, contacts);
    at += contacts;
    for (int f = 0; f < h.fields && array; f++, at += array) memcpy(at, p->field[f], array);
    mo_particles_cells(p, sim->grid, (int32_t *)at);
    at += sizeof(int32_t) * (size_t)p->count;
    memcpy(at, sim->level.phi, level_bytes(h.tiles));
    memcpy(at + level_bytes(h.tiles), sim->level.press, level_bytes(h.tiles));
    at += 2 * level_bytes(h.tiles);
    save_sides(sim, at);
    at += 2 * sizeof(float) * (size_t)h.sides;
    if (h.band) save_band(sim, at);
    if (h.air) save_air(sim, &h, at);
    memcpy(block, &h, sizeof h);
    h.checksum = checksum(block, *bytes);
    memcpy(block, &h, sizeof h);
    *data = block;
    return MO_OK;
}

static mo_status check_header(const mo_sim *sim, const void *data, size_t bytes, header *h, mo_error *err)
{
    if (bytes < sizeof *h) return mo_fail(err, MO_ERROR_INPUT, "checkpoint: only %zu bytes", bytes);
    memcpy(h, data, sizeof *h);
    if (memcmp(h->magic, magic, sizeof magic) != 0)
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: not a state of this program");
    if (h->version != FORMAT_VERSION || h->header_bytes != sizeof *h)
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: format version %u, this program reads %d", h->version,
                       FORMAT_VERSION);
    if (h->solids != sim->def.solid_count || h->shells != sim->shells.count ||
        memcmp(h->cells, sim->cells, sizeof h->cells) != 0 || h->per_axis != sim->def.particles_per_axis)
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: was made by another scene (cells, solids or shells differ)");
    if (h->elastics != sim->elastics.count || h->vertices != vertices_of(sim))
        return mo_fail(
            err, MO_ERROR_INPUT,
            "checkpoint: was made by another scene (%lld elastic bodies with %lld vertices, here %d with %lld)",
            (long long)h->elastics, (long long)h->vertices, sim->elastics.count, (long long)vertices_of(sim));
    if (h->shells != sim->shells.count || h->shell_vertices != sim->shells.all.vertices)
        return mo_fail(err, MO_ERROR_INPUT,
                       "checkpoint: was made by another scene (%lld shells with %lld vertices, here %d with %d)",
                       (long long)h->shells, (long long)h->shell_vertices, sim->shells.count, sim->shells.all.vertices);
    if (sim->shells.count && h->form != (uint32_t)sim->def.solver.shells)
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: was made with another form of shells (solver: shells)");
    if (h->meshes != checksum_of_meshes(sim))
        return mo_fail(
            err, MO_ERROR_INPUT,
            "checkpoint: was made with another mesh of an elastic body or shell: its file has changed since");
    if (h->band != sim->band.depth)
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: was made by another scene (particles: band %d, here %d)",
                       h->band, sim->band.depth);
    if (h->air != sim->air.present)
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: was made by another scene, with%s air", h->air ? "" : "out");
    if (h->fields != fields_of(sim))
        return mo_fail(err, MO_ERROR_INPUT,
                       "checkpoint: was made by another scene (%d numbers per particle, here %d: %d are of liquids "
                       "without viscosity, %d of viscous ones)",
                       h->fields, fields_of(sim), MO_PLAIN_FIELDS, MO_PARTICLE_FIELDS);
    if (h->particles < 0 || h->particles > INT32_MAX || h->contacts < 0 || h->contacts > INT32_MAX || h->tiles < 0 ||
        h->tiles > INT32_MAX / MO_TILE_CELLS || h->sides < 0 || h->sides > INT32_MAX || h->extras < 0 ||
        h->extras > INT32_MAX || h->gaps < 0 || h->gaps > INT32_MAX || bytes != state_bytes(h))
        return mo_fail(err, MO_ERROR_INPUT,
                       "checkpoint: %zu bytes do not hold %lld particles and %lld contacts: truncated?", bytes,
                       (long long)h->particles, (long long)h->contacts);
    if (h->checksum != checksum(data, bytes))
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: checksum differs: damaged");
    return MO_OK;
}

// Particles may have moved by less than half a cell since they were sorted into theirs.
static bool near_cell(const mo_sim *sim, int32_t cell, int32_t q)
{
    const mo_grid *g = sim->grid;
    int32_t c[3] = {cell % g->n[0], cell / g->n[0] % g->n[1], cell / g->n[0] / g->n[1]};
    for (int a = 0; a < 3; a++)
        if (!(fabs(sim->particles.x[a][q] - (c[a] + 0.5)) < 1)) return false;
    return true;
}

mo_status mo_sim_load(mo_sim *sim, const void *data, size_t bytes, mo_error *err)
{
    header h;
    MO_TRY(check_header(sim, data, bytes, &h, err));
    sim->broken = true; // until everything is loaded
    mo_particles *p = &sim->particles;
    MO_TRY(mo_particles_reserve(p, h.particles, err));
    const uint8_t *at = (const uint8_t *)data + sizeof h;
    for (int32_t s = 0; s < sim->def.solid_count; s++, at += sizeof(solid_state)) {
        solid_state state;
        memcpy(&state, at, sizeof state);
        mo_solid *to = &sim->solids[s];
        to->pose = to->next = state.pose, to->velocity = state.velocity, to->angular_velocity = state.angular_velocity;
        to->kick_force = state.kick_force, to->kick_torque = state.kick_torque;
        sim->centre[s] = state.pose.position;
    }
    at = load_shells(sim, at);
    at = load_shell_velocities(&sim->shells, load_elastics(sim, at));
    mo_sim_follow_shells(sim);
    if (!mo_reserve((void **)&sim->kept, &sim->kept_capacity, h.contacts, sizeof *sim->kept))
        return mo_fail_memory(err);
    sim->kept_count = (int32_t)h.contacts;
    size_t contacts = sizeof(mo_kept_contact) * (size_t)h.contacts;
    if (contacts) memcpy(sim->kept, at, contacts);
    at += contacts;
    p->count = (int32_t)h.particles;
    size_t array = sizeof(float) * (size_t)p->count;
    for (int f = 0; f < h.fields && array; f++, at += array) memcpy(p->field[f], at, array);
    sim->time = h.time, sim->step = h.step, sim->frame = h.frame;
    sim->account = h.account;
    sim->given_speed = h.given_speed;
    memcpy(sim->warning, h.warning, sizeof h.warning);
    // Uses the saved cell lists, not those of the present positions, because particles have moved since they were
    // sorted.
    mo_arena_reset(sim->arena);
    MO_TRY(mo_sim_settle_elastics(sim, err));
    MO_TRY(mo_sim_lay_cloths(sim, err));
    int32_t *cell = mo_arena_alloc(sim->arena, array + 4);
    if (!cell) return mo_fail_memory(err);
    if (array) memcpy(cell, at, array);
    int64_t lattice = (int64_t)sim->grid->n[0] * sim->grid->n[1] * sim->grid->n[2];
    for (int32_t q = 0; q < p->count; q++)
        if (cell[q] < 0 || cell[q] >= lattice || !near_cell(sim, cell[q], q))
            return mo_fail(err, MO_ERROR_INPUT, "checkpoint: a particle lies outside the lattice");
    const uint8_t *surface = at + array, *sides = surface + 2 * level_bytes(h.tiles),
                  *band = sides + 2 * sizeof(float) * (size_t)h.sides;
    if (h.band) MO_TRY(want_band(sim, band, h.tiles, err));
    if (h.air) MO_TRY(want_air(sim, band, h.tiles, err));
    MO_TRY(mo_particles_sort_by(p, sim->grid, cell, sim->arena, err));
    MO_TRY(mo_sim_cut_shells(sim, err));
    MO_TRY(mo_sim_reserve_fields(sim, err));
    MO_TRY(mo_levelset_settle(&sim->level, sim->grid, sim->arena, err));
    if (sim->level.tiles != h.tiles)
        return mo_fail(err, MO_ERROR_INPUT, "checkpoint: its surface covers %lld tiles, its particles %d",
                       (long long)h.tiles, sim->level.tiles);
    memcpy(sim->level.phi, surface, level_bytes(h.tiles));
    memcpy(sim->level.press, surface + level_bytes(h.tiles), level_bytes(h.tiles));
    MO_TRY(load_sides(sim, &h, sides, err));
    sim->band.cells = h.deep_cells, sim->band.volume = h.deep_volume;
    memcpy(sim->band.moment, h.deep_moment, sizeof h.deep_moment);
    if (h.band) MO_TRY(load_band(sim, &h, band, err));
    if (h.air) MO_TRY(load_air(sim, &h, band, err));
    mo_sim_show_deep(sim);
    MO_TRY(mo_sim_openings(sim, sim->time, err));
    sim->broken = false;
    return MO_OK;
}
