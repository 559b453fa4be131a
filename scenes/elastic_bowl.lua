-- A rabbit of water and an elastic bowl fall on the ground (after ElastoMonolith, figures 9 and 10).
--
-- The ground carries the bowl, the bowl the water, and the bowl gives way: pressure, elasticity and contact in one solve. Compare
-- bowl_on_ground.lua, where it is rigid, and --set param.young=1e6, where it nearly is.
-- Some minutes on one core; the paper's grid and bowl: --set domain.cells=128 --set param.element=0.041.
param   { height = 0.64, level = 0.74, young = 3e4, element = 0.042 } -- of the rabbit and its centre, m; Pa; m

domain  { size = {2, 1, 2}, cells = 80, friction = 0.5 }
time    { fps = 50, seconds = 1.6 }
liquid  { name = "rabbit", shape = rabbit{height = height}:move(1, level, 1) }

-- A round rim: elements cannot follow a sharp one.
local radius, thickness = 0.4, 0.08
local rim = torus{major = radius - thickness/2, minor = thickness/2}
elastic { name = "bowl", shape = union(bowl{radius = radius, thickness = thickness}, rim):move(1, radius + 0.06, 1),
          element = element, density = 200, young = young, poisson = 0.49, friction = 0.5,
          color = {0.7, 0.25, 0.15}, material = "coat" }

camera  { eye = {1.6, 1.15, 3.2}, target = {1, 0.3, 1}, fov = 25 }
look    { edges = false }
