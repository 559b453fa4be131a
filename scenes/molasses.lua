-- Molasses coils on a plate; a strong surface tension smooths the grooves between the coils away without stopping them
-- (Variational Stokes, section 6.1).
--
-- Without it:  --set emitter.surface_tension=0
-- The stream is 6 cells wide. Finer:  --set domain.cells=150
-- About a minute and a half on one core.
param   { speed = 0.3, radius = 0.004, fall = 0.08 } -- m/s, m, m from the nozzle to the plate

local centre = 0.048
domain  {
    size = {0.096, 0.1, 0.096}, cells = 75,
    walls = {xmin = "open", xmax = "open", ymin = "no-slip", ymax = "open", zmin = "open", zmax = "open"},
}
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 1.5, cfl = 2 }
solver  { tolerance = 1e-4 }
emitter {
    name = "stream", shape = cylinder{radius = radius, height = 0.010}:move(centre, fall + 0.005, centre),
    velocity = {0, -speed, 0}, density = 1400, viscosity = 30, surface_tension = 1,
}
-- A cap over the emitter that the stream does not touch.
fixed   {
    name = "nozzle", color = {0.8, 0.8, 0.82}, material = "metal",
    shape = difference(cylinder{radius = radius + 0.004, height = 0.016}:move(centre, fall + 0.008, centre),
                       cylinder{radius = radius + 0.0025, height = 0.016}:move(centre, fall + 0.005, centre)),
}
look    { sky = "studio", liquid_color = {1e-26, 1e-90, 1e-200}, ground_color = {0.6, 0.58, 0.55}, edges = false }
camera  { eye = {0.115, 0.12, 0.25}, target = {0.048, 0.042, 0.048}, fov = 24 }
