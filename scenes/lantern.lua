-- A beam runs to the right and stops. A banner of cloth is attached to it, and a lantern hangs on two cords from the banner.
--
-- The lantern is rigid. The cords hold it by its rim, and its weight, the cords and the cloth are one solve. A heavier lantern:
-- --set rigid.density=2000. A few seconds on one core.
domain  { size = {1.4, 0.9, 0.6}, cells = 42 }
time    { fps = 50, seconds = 2 }

-- From 0 to 0.6 m in 0.8 s, smoothly.
local function run(t)
    local s = math.min(t / 0.8, 1)
    return { position = {0.6 * s * s * (3 - 2 * s), 0, 0} }
end
moving  { name = "beam", shape = box{size = {0.06, 0.04, 0.4}}:move(0.35, 0.85, 0.3), motion = run, color = {0.35, 0.25, 0.18} }

cloth   { name = "banner", sheet = plate{size = {0.28, 0.3}, edge = 0.04}:rotate{axis = {0, 0, 1}, degrees = 90}:move(0.35, 0.7, 0.3),
          density = 0.15, stretch = 5000, bend = 1e-4, damping = 5e-3, color = {0.75, 0.1, 0.1},
          attached = {{ solid = "beam", where = function(x, y, z) return y > 0.82 end }},
          cords = {{ from = {0.35, 0.56, 0.15}, to = {0.35, 0.36, 0.25}, solid = "lantern", stretch = 500 },
                   { from = {0.35, 0.56, 0.45}, to = {0.35, 0.36, 0.35}, solid = "lantern", stretch = 500 }} }
rigid   { name = "lantern", shape = union(cylinder{radius = 0.05, height = 0.12}:move(0.35, 0.29, 0.3),
                                          box{size = {0.1, 0.02, 0.1}}:move(0.35, 0.36, 0.3)),
          density = 300, color = {0.9, 0.7, 0.2}, material = "coat" }

camera  { eye = {2.1, 0.95, 2.1}, target = {0.62, 0.48, 0.3}, fov = 30 }
look    { sky = "studio", edges = false }
