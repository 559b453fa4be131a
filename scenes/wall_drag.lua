-- A ball of goo and a rabbit are thrown at a wall. The goo sticks, catches the rabbit and lets it down slowly. After
-- figure 4 of Takahashi and Batty (2020), Monolith.
--
-- Compare --set solver.scheme=PC-VC-PC: pressure and viscosity in turn.
-- Takes about 2 minutes on 2 cores. The paper's detail: --set domain.cells=128.
param   { speed = 6, viscosity = 1000, density = 2000 } -- m/s; Pa s; of the rabbit, kg/m^3

domain  { size = {1, 1, 0.75}, cells = 48, walls = {ymin = "no-slip", ymax = "open"} }
time    { fps = 50, seconds = 1 }
liquid  { name = "goo", shape = sphere{radius = 0.2}:move(0.36, 0.66, 0.375), velocity = {-speed, 0, 0}, viscosity = viscosity }
rigid   { name = "rabbit", shape = rabbit{height = 0.3}:rotate{axis = {0, 1, 0}, degrees = 180}:move(0.74, 0.7, 0.375),
          density = density, velocity = {-speed, 0, 0}, color = {0.75, 0.72, 0.65}, material = "coat" }
fixed   { name = "wall", shape = box{size = {0.2, 4, 4}}, color = {0.35, 0.38, 0.42} }

look    { sky = "studio", opaque = true, liquid_color = {0.55, 0.08, 0.05}, ground_color = {0.5, 0.48, 0.45}, edges = false }
camera  { eye = {1.5, 0.8, 2.3}, target = {0.35, 0.42, 0.375}, fov = 30 }
