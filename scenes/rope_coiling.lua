-- Honey falls from a nozzle on a plate and coils like a rope (Variational Stokes, figures 1 and 2): where the stream
-- lands it buckles, and then goes round and round, about four times a second.
--
-- Stiffer honey makes wider and slower coils:  --set emitter.viscosity=100
-- Pressure and viscosity in turn, which melts the coils together:  --set solver.scheme=P-V-P
-- The stream is 6 cells wide. Finer:  --set domain.cells=150
-- About 4 minutes on one core.
param   { speed = 0.25, radius = 0.005, fall = 0.075 } -- m/s, m, m from the nozzle to the plate

local centre = 0.05
domain  {
    size = {0.1, 0.1, 0.1}, cells = 60,
    walls = {xmin = "open", xmax = "open", ymin = "no-slip", ymax = "open", zmin = "open", zmax = "open"},
}
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 2, cfl = 2 }
solver  { tolerance = 1e-4 }
emitter {
    name = "stream", shape = cylinder{radius = radius, height = 0.012}:move(centre, fall + 0.006, centre),
    velocity = {0, -speed, 0}, viscosity = 25,
}
-- A cap over the emitter that the stream does not touch.
fixed   {
    name = "nozzle", color = {0.8, 0.8, 0.82}, material = "metal",
    shape = difference(cylinder{radius = radius + 0.005, height = 0.018}:move(centre, fall + 0.009, centre),
                       cylinder{radius = radius + 0.003, height = 0.018}:move(centre, fall + 0.006, centre)),
}
look    { sky = "studio", liquid_color = {6e-3, 2e-17, 1e-80}, ground_color = {0.5, 0.5, 0.5}, edges = false }
camera  { eye = {0.12, 0.125, 0.25}, target = {0.05, 0.037, 0.05}, fov = 26 }
