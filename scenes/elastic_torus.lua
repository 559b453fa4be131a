-- A rabbit of water falls into a bowl that stands on a ring in the air (after ElastoMonolith, figures 13 and 14). An elastic bowl
-- gives way under the load and slips through the ring; a rigid one stays: --set param.soft=false. With honey:
-- --set param.viscosity=100.
--
-- Some minutes on one core; the paper's grid, bowl and liquid: --set domain.cells=160 --set param.element=0.04 --set param.height=0.642.
param   { soft = true, viscosity = 0, young = 1e4, element = 0.042, height = 0.56 } -- , Pa s, Pa, m, of the rabbit, m

domain  { size = {2, 1, 2}, cells = 80, friction = 0.5 }
time    { fps = 50, seconds = 2 }
liquid  { name = "rabbit", shape = rabbit{height = height}:move(1, 0.72 + (height - 0.56)/2, 1), viscosity = viscosity }
fixed   { name = "ring", shape = torus{major = 0.3, minor = 0.05}:move(1, 0.34, 1), friction = 0.5,
          color = {0.35, 0.36, 0.38}, material = "metal" }

local radius, thickness = 0.32, 0.08
local rim = torus{major = radius - thickness/2, minor = thickness/2} -- round: elements cannot follow a sharp one
local shape = union(bowl{radius = radius, thickness = thickness}, rim):move(1, 0.59, 1)
local color = {0.72, 0.28, 0.12}
if soft then
    elastic { name = "bowl", shape = shape, element = element, density = 200, young = young, poisson = 0.49, friction = 0.5,
              color = color, material = "coat" }
else
    rigid   { name = "bowl", shape = shape, density = 200, friction = 0.5, color = color, material = "coat" }
end

camera  { eye = {1.7, 1.05, 3.3}, target = {1, 0.34, 1}, fov = 24 }
look    { edges = false }
