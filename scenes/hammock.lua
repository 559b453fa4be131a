-- A hammock of canvas hangs from cords between two racks, and a ball drops into it.
--
-- The ball is rigid: its weight, the cloth's tension and the contacts between them are one solve. A heavier ball: --set rigid.density=400.
-- Half a minute on one core.
domain  { size = {1.2, 0.8, 0.6}, cells = 36 }
time    { fps = 50, seconds = 1.2 }

local left, right, height = 0.1, 1.1, 0.65
local cords = {}
for k, z in ipairs{0.15, 0.25, 0.35, 0.45} do
    cords[2*k - 1] = { from = {0.25, 0.5, z}, to = {left, height, z}, stretch = 500 } -- m, N
    cords[2*k]     = { from = {0.95, 0.5, z}, to = {right, height, z}, stretch = 500 }
end
cloth   { name = "hammock", sheet = plate{size = {0.7, 0.3}, edge = 0.05}:move(0.6, 0.5, 0.3), density = 0.4, stretch = 4000, bend = 1e-4,
          damping = 5e-3, cords = cords, color = {0.8, 0.65, 0.4} }
rigid   { name = "ball", shape = sphere{radius = 0.07}:move(0.58, 0.65, 0.31), density = 200, color = {0.7, 0.15, 0.1}, material = "coat" }

local function rack(x)
    return union(box{size = {0.03, 0.03, 0.44}}:move(x, height + 0.02, 0.3), box{size = {0.03, 0.65, 0.03}}:move(x, 0.325, 0.095),
                 box{size = {0.03, 0.65, 0.03}}:move(x, 0.325, 0.505))
end
fixed   { name = "racks", shape = union(rack(left), rack(right)), color = {0.35, 0.25, 0.18} }

camera  { eye = {1.6, 1.0, 2.0}, target = {0.6, 0.38, 0.3}, fov = 36 }
look    { sky = "studio", edges = false }
