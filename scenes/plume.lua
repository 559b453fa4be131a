-- A plume: hot smoke rises from a vent, bends round a ball and spreads below the ceiling.
-- monolith run scenes/plume.lua; finer: --set domain.cells=128
domain  { size = {1, 2, 1}, cells = 96, walls = { ymax = "open", xmin = "open", xmax = "open", zmin = "open", zmax = "open" } }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 4, cfl = 2 }
air     {}
smoke   { name = "vent", shape = cylinder{radius = 0.12, height = 0.1}:move(0.5, 0.1, 0.5), density = 4e-3, temperature = 420, seconds = 100 }
fixed   { name = "ball", shape = sphere{radius = 0.14}:move(0.53, 0.8, 0.5), color = {0.75, 0.3, 0.2} }
camera  { eye = {0.5, 1.0, 4.6}, target = {0.5, 0.95, 0.5}, fov = 28 }
