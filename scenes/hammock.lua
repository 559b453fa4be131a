-- A hammock of canvas hangs from cords between two posts, and a ball drops into it.
--
-- The ball is rigid: its weight, the cloth's tension and the contacts between them are one solve. A heavier ball: --set rigid.density=400.
-- A minute on one core.
domain  { size = {1.2, 0.8, 0.6}, cells = 36 }
time    { fps = 50, seconds = 1.2 }

local left, right, height = 0.1, 1.1, 0.65
cloth   { name = "hammock", sheet = plate{size = {0.7, 0.3}, edge = 0.05}:move(0.6, 0.5, 0.3), density = 0.4, stretch = 4000, bend = 1e-4,
          damping = 5e-3, color = {0.8, 0.65, 0.4},
          cords = {{ from = {0.25, 0.5, 0.15}, to = {left, height, 0.3}, stretch = 500 }, { from = {0.25, 0.5, 0.3}, to = {left, height, 0.3}, stretch = 500 },
                   { from = {0.25, 0.5, 0.45}, to = {left, height, 0.3}, stretch = 500 }, { from = {0.95, 0.5, 0.15}, to = {right, height, 0.3}, stretch = 500 },
                   { from = {0.95, 0.5, 0.3}, to = {right, height, 0.3}, stretch = 500 }, { from = {0.95, 0.5, 0.45}, to = {right, height, 0.3}, stretch = 500 }} }
rigid   { name = "ball", shape = sphere{radius = 0.07}:move(0.58, 0.65, 0.31), density = 200, color = {0.7, 0.15, 0.1}, material = "coat" }
fixed   { name = "posts", shape = union(cylinder{radius = 0.02, height = 0.7}:move(left - 0.03, 0.35, 0.3),
                                        cylinder{radius = 0.02, height = 0.7}:move(right + 0.03, 0.35, 0.3)), color = {0.35, 0.25, 0.18} }

camera  { eye = {1.5, 0.9, 1.9}, target = {0.6, 0.38, 0.3}, fov = 34 }
look    { sky = "studio", edges = false }
