-- A heavy rabbit falls on half a ball of tar, which dents, sags and carries it. After figure 5 of Takahashi and Batty
-- (2020), Monolith.
--
-- Compare --set solver.scheme=PC-VC-PC: pressure and viscosity in turn, and the rabbit sinks faster.
-- Takes about 2 minutes. The paper's detail: --set domain.cells=128.
param   { viscosity = 1e4, density = 3000 } -- Pa s; of the rabbit, kg/m^3

domain  { size = {1, 1, 1}, cells = 36, walls = {ymin = "no-slip", ymax = "open"} }
time    { fps = 50, seconds = 2 }
liquid  { name = "tar", shape = sphere{radius = 0.36}:move(0.5, 0, 0.5), viscosity = viscosity }
rigid   { name = "rabbit", shape = rabbit{height = 0.36}:rotate{axis = {0, 1, 0}, degrees = -35}:move(0.5, 0.62, 0.5),
          density = density, velocity = {0, -1, 0}, color = {0.75, 0.72, 0.65}, material = "coat" }

look    { sky = "studio", opaque = true, liquid_color = {0.06, 0.25, 0.3}, ground_color = {0.5, 0.48, 0.45}, edges = false }
camera  { eye = {1.1, 0.75, 2.4}, target = {0.5, 0.27, 0.5}, fov = 26 }
