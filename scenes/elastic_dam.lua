-- A dam breaks and the water swings an elastic beam that hangs from the ceiling (after ElastoMonolith, figures 7 and 8).
--
-- Water and beam are one solve, although the beam is five times lighter than what pushes it. --set param.young=1e5: it hardly bends.
-- A few minutes on one core; the paper's grid and beam: --set domain.cells=80 --set param.element=0.02.
param   { young = 1e4, element = 0.04 } -- Pa, m

domain  { size = {1, 1, 1}, cells = 40 }
time    { fps = 50, seconds = 2 }
liquid  { shape = box{size = {0.35, 0.68, 1}}:move(0.175, 0.34, 0.5) }

local width, length, top = 0.12, 0.72, 0.9
elastic { name = "beam", shape = box{size = {width, length, width}}:move(0.62, top - length/2, 0.5),
          element = element, density = 200, young = young, poisson = 0.49,
          pins = {{ where = plane{normal = {0, -1, 0}, offset = 1e-6 - top} }}, color = {0.75, 0.3, 0.1}, material = "coat" }
fixed   { name = "beam-holder", shape = box{size = {0.24, 0.05, 0.24}}:move(0.62, top + 0.027, 0.5), color = {0.3, 0.31, 0.33} }

camera  { eye = {1.6, 0.95, 2.75}, target = {0.5, 0.46, 0.5}, fov = 31 }
