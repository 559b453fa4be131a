-- A rigid rabbit, three times as heavy as water, falls into a bowl that floats on a pool (after Monolith, figure 3).
--
-- The water carries the bowl and the bowl the rabbit: pressure and contact forces are found in one solve, and the bowl
-- takes the blow, dips and swims on upright. With --set solver.scheme=P-C the bowl, pushed down by the rabbit after the
-- pressure was found, swallows the water below it; with C-P the water pushes it through the rabbit.
-- About a minute on 2 cores; the paper's grid: --set domain.cells=128.
param   { height = 0.34, density = 500 } -- of the rabbit, m; of the bowl, kg/m3

domain  { size = {1, 1, 1}, cells = 40, friction = 0 }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 3 }
-- The pool is made with the empty bowl afloat: 0.13 m of it are under water, and no water is in it.
local radius, thickness, level = 0.3, 0.06, 0.4
local centre = level + radius - 0.13
liquid  { name = "pool", shape = difference(box{size = {3, 2*level, 3}}, sphere{radius = radius}:move(0.5, centre, 0.5)) }
rigid   { name = "bowl", density = density, friction = 0, shape = bowl{radius = radius, thickness = thickness}:move(0.5, centre, 0.5),
          color = {0.75, 0.72, 0.65}, material = "coat" }
rigid   { name = "rabbit", density = 3000, friction = 0, shape = rabbit{height = height}:move(0.52, 0.8, 0.5),
          color = {0.7, 0.3, 0.12}, material = "coat" }
camera  { eye = {0.5, 1.5, 2.1}, target = {0.5, 0.42, 0.5}, fov = 30 }
look    { edges = false }
