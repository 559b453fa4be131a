-- A ball of goo and a rabbit are thrown at each other, collide in the air and fly on together. After figure 8 of
-- Takahashi and Batty (2020), Monolith.
--
-- Nothing but gravity acts on the two: what the goo loses of its momentum, the rabbit gets, and where both move alike no
-- force acts at all (--set param.speed=0 --set param.gap=0: they fall as one).
-- Takes about 2 minutes on 2 cores. The paper's detail: --set domain.cells=128.
param   { speed = 1, up = 2.5, gap = 0.16, viscosity = 1000, density = 2000 } -- m/s; m/s; m; Pa s; of the rabbit, kg/m^3

domain  { size = {1.2, 1, 0.8}, cells = 40, walls = {ymin = "no-slip", ymax = "open"} }
time    { fps = 50, seconds = 0.6 }
liquid  { name = "goo", shape = sphere{radius = 0.17}:move(0.51 - gap/2, 0.3, 0.4), velocity = {speed, up, 0}, viscosity = viscosity }
rigid   { name = "rabbit", shape = rabbit{height = 0.32}:rotate{axis = {0, 1, 0}, degrees = 180}:move(0.79 + gap, 0.34, 0.4),
          density = density, velocity = {-3.3*speed, up, 0}, color = {0.75, 0.72, 0.65}, material = "coat" }

look    { sky = "studio", opaque = true, liquid_color = {0.55, 0.08, 0.05}, ground_color = {0.5, 0.48, 0.45}, edges = false }
camera  { eye = {0.8, 0.75, 3}, target = {0.6, 0.42, 0.4}, fov = 25 }
