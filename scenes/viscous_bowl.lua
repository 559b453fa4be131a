-- A rabbit of syrup falls into a light bowl that stands on the ground. After figure 6 of Takahashi and Batty (2020),
-- Monolith, which has a dragon.
--
-- Pressure, viscosity and the ground's force are found in one solve. With --set solver.scheme=PV-C and
-- --set volume.correct=local, the paper's correction of positions, three quarters of the syrup vanish; with C-PV the bowl sinks into the ground; PVC-iterative gives the same answer at several times the cost.
-- Takes about half a minute. The paper's detail: --set domain.cells=128.
param   { viscosity = 100, density = 100 } -- Pa s; of the bowl, kg/m^3

domain  { size = {1, 1, 1}, cells = 56, walls = {ymin = "no-slip", ymax = "open"}, friction = 0 }
time    { fps = 50, seconds = 1 }
liquid  { name = "syrup", shape = rabbit{height = 0.54}:move(0.5, 0.66, 0.5), viscosity = viscosity }
rigid   { name = "bowl", shape = bowl{radius = 0.36, thickness = 0.075}:move(0.5, 0.361, 0.5), density = density,
          color = {0.75, 0.72, 0.65}, material = "coat" }

look    { sky = "studio", opaque = true, liquid_color = {0.5, 0.2, 0.02}, ground_color = {0.5, 0.48, 0.45}, edges = false }
camera  { eye = {0.9, 1.25, 2.2}, target = {0.5, 0.3, 0.5}, fov = 28 }
