-- A bowl floats on a pool and is loaded with balls, one after the other (after Monolith, figures 3 and 7).
--
-- The water carries the bowl, the bowl the balls: pressure and contact forces are found in one solve, so the bowl
-- neither sinks through its load nor throws it out. Compare with --set solver.scheme=P-C or C-P.
-- About 2 minutes; finer: --set domain.cells=64, viscous: --set liquid.viscosity=100.
domain  { size = {1, 1, 1}, cells = 40 }
time    { fps = 25, seconds = 3 }
liquid  { shape = box{size = {2, 0.35, 2}}:move(0.5, 0.175, 0.5) }
rigid   { name = "bowl", shape = bowl{radius = 0.28, thickness = 0.06}:move(0.5, 0.5, 0.5), density = 350, friction = 0.3,
          color = {0.75, 0.72, 0.65}, material = "coat" }
local places = {{0.44, 0.62, 0.47}, {0.56, 0.74, 0.54}, {0.5, 0.84, 0.45}}
local colors = {{0.7, 0.25, 0.1}, {0.15, 0.35, 0.6}, {0.75, 0.6, 0.1}}
for i, p in ipairs(places) do
    rigid { name = "ball" .. i, shape = sphere{radius = 0.07}:move(p[1], p[2], p[3]), density = 900, friction = 0.3,
            color = colors[i], material = "coat" }
end
camera  { eye = {0.5, 1.45, 1.8}, target = {0.5, 0.32, 0.5}, fov = 32 }
look    { edges = false }
