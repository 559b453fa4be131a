// Scenes that attack: endless work, memory, files, damaged text. Each must end with an error, soon, without a leak.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/base.h"
#include "ration.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/monolith_sandbox_XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/scene.lua", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    remove(path);
    return rmdir(folder);
}

static mo_status load_bytes(const char *text, size_t bytes, mo_scene **scene, mo_error *err)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    fclose(f);
    *err = (mo_error){0};
    return mo_scene_load(path, NULL, 0, scene, err);
}

static const struct {
    const char *text, *message;
} attacks[] = {
    {"while true do end", "scene.lua:1: the scene runs for too many instructions"},
    {"\ntable.sort{3, 1, 'x'}", "scene.lua:2: attempt to compare"},
    {"\n\ntable.sort({3, 1, 2, 5, 4}, function() return true end)", "scene.lua:3: invalid order function"},
    {"\ntable.unpack({}, 1, 1e8)", "scene.lua:2: too many results to unpack"},
    {"local t = {}\ntable.concat{{}}", "scene.lua:2: invalid value ("},
    {"error('own text', 0)", "scene.lua:1: own text"},
    {"error(tostring({}) .. tostring(print_nothing == nil))", "unknown name 'print_nothing'"},
    {"error(tostring{} .. '|' .. tostring(error) .. '|' .. tostring(box{size = {1, 1}}) .. '|' .. tostring(1.5) .. "
     "'|')",
     "scene.lua:1: table|function|shape|1.5|"},
    {"error(string.format('%s %5s %d', {}, box, 3))", "scene.lua:1: table function 3"},
    {"error(('%p'):format({}))", "%p is not available in scenes"},
    {"error(('%-10p'):format({}))", "%p is not available in scenes"},
    {"domain{size = {1, 1}, ['cells\\0x'] = 8}", "a zero byte in the text 'cells'"},
    {"domain{size = {1, 1}, cells = 8, walls = 'slip\\0x'}", "a zero byte in the text 'slip'"},
    {"fixed{name = 'a\\0b', shape = box{size = {1, 1}}}", "a zero byte in the text 'a'"},
    {"rigid{shape = mesh('a\\0b.obj')}", "a zero byte in the text 'a'"},
    {"param{['a\\0b'] = 1}", "a zero byte in the text 'a'"},
    {"\nrepeat until false", "scene.lua:2: the scene runs for too many instructions"},
    {"for i = 1, math.huge do end", "too many instructions"},
    {"::a:: goto a", "too many instructions"},
    {"local function f() return f() end f()", "too many instructions"},
    {"local function f() f() f() end f()", "scene.lua:1: the scene needs more than 64 MB of memory"},
    {"local function f(...) return f(1, ...) end f()", "scene.lua:1: "},
    {"while true do pcall(error) end", "'pcall' is not available in scenes"},
    {"xpcall(function() while true do end end, error)", "'xpcall' is not available in scenes"},
    {"coroutine.wrap(function() while true do end end)()", "'coroutine' is not available in scenes"},
    {"local s = ('x'):rep(1e10)", "attempt to call a nil value (method 'rep')"},
    {"local s = string.rep('x', 1e10)", "attempt to call a nil value (field 'rep')"},
    {"local s = 'x' while true do s = s .. s end", "scene.lua:1: a string is longer than 4096 bytes"},
    {"local t = {} for i = 1, 1000 do t[i] = '0123456789' end local s = table.concat(t)", "a string is longer than"},
    {"local t = {} for i = 1, 1e9 do t[i] = i end", "scene.lua:1: the scene needs more than 64 MB of memory"},
    {"local t = {} while true do t = {t} end", "scene.lua:1: the scene needs more than 64 MB of memory"},
    {"local t = {} for i = 1, 1e9 do t[i] = 'text' .. i end", "the scene needs more than 64 MB of memory"},
    {"local t = {} for i = 1, 1e9 do t[i] = function() return i end end", "the scene needs more than 64 MB"},
    {"local t = {} for i = 1, 2e5 do t[i] = i end while true do table.insert(t, 1, 0) table.remove(t, 1) end",
     "the scene computes for more than 2 s"},
    {"local t = {} for i = 1, 2e5 do t[i] = -i end while true do table.sort(t) end", "computes for more than 2 s"},
    {"table.move({}, 1, math.maxinteger - 1, 2)", "attempt to call a nil value (field 'move')"},
    {"table.unpack({}, 1, 1e9)", "too many results to unpack"},
    {"table.concat({}, 'x', 1, 1e15)", "invalid value"},
    {"local s = string.format('%99999d', 1)", "invalid conversion"},
    {"local s = string.find('aaaaaaaaaaaaaaaaaaaaaaaa', '.-.-.-.-.-.-b')",
     "attempt to call a nil value (field 'find')"},
    {"local s = ('a'):gsub('.*', 'b')", "attempt to call a nil value (method 'gsub')"},
    {"local s = ('').dump", "no domain"}, // reads nil, does nothing
    {"('').rep = 1", "attempt to index a string value"},
    {"string.rep = function() end local s = ('x'):rep()", "no domain"}, // its own function: harmless
    {"io.open('/etc/passwd')", "scene.lua:1: scene: 'io' is not available in scenes"},
    {"os.execute('true')", "'os' is not available in scenes"},
    {"debug.sethook()", "'debug' is not available in scenes"},
    {"require 'os'", "'require' is not available in scenes"},
    {"package.loadlib('x', 'y')", "'package' is not available in scenes"},
    {"load('return 1')()", "'load' is not available in scenes"},
    {"dofile('/etc/passwd')", "'dofile' is not available in scenes"},
    {"print(1)", "'print' is not available in scenes"},
    {"collectgarbage('stop')", "'collectgarbage' is not available in scenes"},
    {"setmetatable({}, {__gc = function() while true do end end})", "'setmetatable' is not available in scenes"},
    {"getmetatable('').__index.upper = 1", "'getmetatable' is not available in scenes"},
    {"rawset(1, 2, 3)", "'rawset' is not available in scenes"},
    {"local x <close> = {}", "variable 'x' got a non-closable value"},
    {"domain(_ENV)", "domain: unknown key"},
    {"param(_ENV)", "param: "},
    {"_ENV = {} domain{}", "attempt to call a nil value (global 'domain')"},
    {"local s = sphere{radius = 1} s.x = 1", "attempt to index a shape value"},
    {"local s = sphere{radius = 1} local t = s.__gc", "shape: no method '__gc'"},
    {"local s = sphere{radius = 1} s.move(s, s, s, s)", "move: x must be a finite number"},
    {"local s = sphere{radius = 1} s.move(1, 2, 3)", "move: expects a shape, got 1"},
    {"local s = sphere{radius = 1} while true do s = s:move(1, 0, 0) end", "more than 1000 operations nested"},
    {"local s = sphere{radius = 1} while true do s = union(s, s) end", "more than 10000 parts in one shape"},
    {"while true do local s = sphere{radius = 1} end", "sphere: more than 100000 shapes"},
    {"local s = sphere{radius = 1} while true do liquid{shape = s} end", "liquid: more than 10000"},
    {"local s = sphere{radius = 1} while true do emitter{shape = s, velocity = {0, 0, 1}} end", "emitter: more than"},
    {"\x1bLua binary", "attempt to load a binary chunk"},
    {"moving{shape = sphere{radius = 1}, motion = function(t) while true do end end}", "too many instructions"},
};

static void attacks_end_with_an_error(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    double slowest = 0;
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        mo_scene *scene;
        mo_error err;
        mo_memory_reset_peak();
        double start = mo_cpu_seconds();
        if (load_bytes(attacks[i].text, strlen(attacks[i].text), &scene, &err) == MO_OK)
            fail_msg("accepted: %s", attacks[i].text);
        double seconds = mo_cpu_seconds() - start;
        if (seconds > slowest) slowest = seconds;
        if (!strstr(err.text, attacks[i].message))
            fail_msg("\n%s\nsays     %s\nexpected %s", attacks[i].text, err.text, attacks[i].message);
        if (seconds > 4) fail_msg("%g s for %s", seconds, attacks[i].text);
        assert_true(mo_memory_in_use() == before);
        assert_true(mo_memory_peak() - before < 120 << 20);
    }
    print_message("slowest attack: %.2f s of processor time\n", slowest);
}

// Texts too long for a table: deep nesting, long literals, a large file.
static void large_texts_end_with_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *head, *part, *tail, *message;
        int32_t repeat;
    } cases[] = {
        {"local x = ", "(", "", "scene.lua: C stack overflow", 100000},
        {"local x = ", "{", "", "scene.lua: C stack overflow", 100000},
        {"", "do local a = 1 ", "", "scene.lua: C stack overflow", 10000},
        {"local x = '", "0123456789", "'", "a string is longer than 4096 bytes", 1000},
        {"-- ", "0123456789", "", "no domain", 20000}, // a long comment is no string
        {"", "-- 0123456789\n", "", "the scene is larger than 256 kB", 20000},
        {"", "goto a ", "", "no visible label 'a'", 30000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t head = strlen(cases[i].head), part = strlen(cases[i].part), tail = strlen(cases[i].tail);
        size_t body = part * (size_t)cases[i].repeat;
        char *text = malloc(head + body + tail);
        memcpy(text, cases[i].head, head);
        for (size_t k = 0; k < body; k += part) memcpy(text + head + k, cases[i].part, part);
        memcpy(text + head + body, cases[i].tail, tail);
        mo_scene *scene;
        mo_error err;
        double start = mo_cpu_seconds();
        assert_int_not_equal(load_bytes(text, head + body + tail, &scene, &err), MO_OK);
        if (!strstr(err.text, cases[i].message)) fail_msg("%s instead of %s", err.text, cases[i].message);
        assert_true(mo_cpu_seconds() - start < 4);
        free(text);
    }
}

// What a scene computes does not change from run to run.
static void scenes_are_deterministic(void **state)
{
    (void)state;
    static const char text[] = "domain{size={1,1,1}, cells=8}\n"
                               "for k, v in pairs{a=1, b=2, c=3, dd=4, [2]=6, [1]=5} do\n"
                               "  fixed{name='s' .. k .. '-' .. v, shape=sphere{radius=v}} end\n"
                               "liquid{shape=sphere{radius=math.random()}, velocity={math.random(100), 0, 0}}";
    static const char *const names[] = {"s1-5", "s2-6", "sa-1", "sb-2", "sc-3", "sdd-4"};
    double radius = 0, speed = 0;
    for (int run = 0; run < 5; run++) {
        mo_scene *scene;
        mo_error err;
        if (load_bytes(text, strlen(text), &scene, &err) != MO_OK) fail_msg("%s", err.text);
        const mo_sim_def *d = mo_scene_sim_def(scene);
        assert_int_equal(d->solid_count, 6);
        for (int i = 0; i < 6; i++) assert_string_equal(d->solids[i].name, names[i]);
        double r = mo_shape_distance(d->liquids[0].shape, (mo_vec3){0, 0, 0});
        assert_true(run == 0 || (r == radius && d->liquids[0].velocity.x == speed));
        radius = r, speed = d->liquids[0].velocity.x;
        mo_scene_destroy(scene);
    }
}

static const char seed[] =
    "param{ angle = 10, deep = true }\n"
    "domain{ size = {2, 1, 1}, cells = 32, walls = {ymax = 'open'} }\n"
    "gravity{ 0, -9.81, 0 } time{ fps = 50, seconds = 3, cfl = 3, max_step = 0 }\n"
    "solver{ scheme = 'P', route = 'fast', tolerance = 1e-6, max_iterations = 100 }\n"
    "local s = union(sphere{radius = 0.3}:move(1, 0.7, 1), box{size = {1, 2, 3}}:rotate{axis = {0, 0, 1}, degrees = "
    "9})\n"
    "liquid{ name = 'a', shape = s:scale(2):shell(0.1), density = 1000, velocity = {0, -1, 0} }\n"
    "liquid{ shape = difference(s, cone{radius = 1, height = 2}), velocity = function(x, y, z) return y, z, x end }\n"
    "for i = 1, 3 do fixed{ name = 'step' .. i, shape = cylinder{radius = i, height = 1} } end\n"
    "moving{ shape = torus{major = 2, minor = 1}, motion = function(t)\n"
    "  return {position = {math.sin(t), 0, 0}, rotation = {axis = {0, 1, 0}, degrees = 90*t}} end }\n"
    "emitter{ shape = capsule{radius = 1, height = 3}, velocity = {0, 1, 0}, start = 1, seconds = 2 }\n"
    "particles{ per_axis = 2 } volume{ correct = true }\n";

static uint32_t rng = 12345;
static uint32_t any(uint32_t below)
{
    rng = rng * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)rng * below) >> 32);
}

// Changes, removes, swaps or repeats a few bytes; or puts in a word.
static size_t mutate(char *text, size_t bytes, size_t capacity)
{
    static const char *const words[] = {
        "nil", "{", "}", "-1", "0/0", "1e308", "''",     "function() end", "s", "_ENV", "(", "math.huge",
        "\0",  "0", "x", ",",  "=",   "'",     "1e-320", "math.mininteger"};
    for (uint32_t changes = 1 + any(3); changes > 0; changes--) {
        size_t at = any((uint32_t)bytes), span = 1 + any(6);
        if (at + span > bytes) span = bytes - at;
        const char *word = words[any(sizeof words / sizeof *words)];
        size_t length = strlen(word);
        switch (any(4)) {
        case 0: text[at] = (char)(any(3) ? 32 + any(95) : any(256)); break;
        case 1:
            memmove(text + at, text + at + span, bytes - at - span);
            bytes -= span;
            break;
        case 2:
            if (bytes + span > capacity) break;
            memmove(text + at + span, text + at, bytes - at);
            bytes += span;
            break;
        default:
            if (bytes + length > capacity) break;
            memmove(text + at + length, text + at, bytes - at);
            memcpy(text + at, word, length);
            bytes += length;
        }
    }
    return bytes;
}

static void mutated_scenes_never_crash(void **state)
{
    (void)state;
    enum { ROUNDS = 5000 };
    int64_t before = mo_memory_in_use();
    int32_t loaded = 0;
    for (int32_t round = 0; round < ROUNDS; round++) {
        char text[sizeof seed + 256];
        memcpy(text, seed, sizeof seed - 1);
        size_t bytes = mutate(text, sizeof seed - 1, sizeof text);
        mo_scene *scene;
        mo_error err;
        if (load_bytes(text, bytes, &scene, &err) == MO_OK) {
            const mo_sim_def *d = mo_scene_sim_def(scene);
            mo_vec3 v;
            mo_pose pose;
            for (int32_t i = 0; i < d->liquid_count; i++)
                if (d->liquids[i].velocity_fn)
                    d->liquids[i].velocity_fn(d->liquids[i].user, (mo_vec3){1, 2, 3}, &v, &err);
            for (int32_t i = 0; i < d->solid_count; i++)
                if (d->solids[i].motion) d->solids[i].motion(d->solids[i].user, 1, &pose, &err);
            mo_scene_destroy(scene);
            loaded++;
        } else {
            assert_true(err.text[0] != 0 && err.status != MO_OK);
            for (const char *c = err.text; *c; c++) assert_true((unsigned char)*c >= ' ');
        }
    }
    assert_true(mo_memory_in_use() == before);
    print_message("%d of %d mutated scenes still load\n", loaded, ROUNDS);
}

// ---- Allocation failure at every call ----

static void exhausted_memory_is_reported(void **state)
{
    (void)state;
    int64_t before = mo_memory_in_use();
    ration r = {.for_good = true};
    mo_set_allocator(rationed, &r);
    mo_status status = MO_ERROR_MEMORY;
    int64_t failures = 0;
    for (int64_t budget = 0; status != MO_OK && budget < 100000; budget++) {
        mo_scene *scene = NULL;
        mo_error err = {0};
        r.fail_at = 0;
        FILE *f = fopen(path, "wb");
        fputs(seed, f);
        fclose(f);
        r.calls = 0, r.fail_at = budget + 1;
        status = mo_scene_load(path, NULL, 0, &scene, &err);
        if (status != MO_OK) {
            failures++;
            if (status != MO_ERROR_MEMORY) fail_msg("after %lld allocations: %s", (long long)budget, err.text);
        }
        mo_scene_destroy(scene);
        assert_true(mo_memory_in_use() == before);
    }
    mo_set_allocator(NULL, NULL);
    assert_int_equal(status, MO_OK);
    assert_true(failures > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attacks_end_with_an_error),    cmocka_unit_test(large_texts_end_with_an_error),
        cmocka_unit_test(scenes_are_deterministic),     cmocka_unit_test(mutated_scenes_never_crash),
        cmocka_unit_test(exhausted_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
