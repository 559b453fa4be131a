-- A viscous stream falls on a conveyor belt and coils while the belt carries the loops away (Variational Stokes, figure
-- 8). A faster belt draws the loops out into waves, and in the end into a straight line.
--
-- The stream is 6 cells wide. Finer:  --set domain.cells=300
-- About 6 minutes on one core.
param   { belt_speed = 0.08, speed = 0.25, radius = 0.005, fall = 0.075 } -- m/s, m/s, m, m from the nozzle to the belt

local x, z, top = 0.04, 0.045, 0.012 -- m: nozzle, upper side of the belt
domain  { size = {0.25, 0.12, 0.09}, cells = 150, walls = "open" }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 2.4, cfl = 2 }
solver  { tolerance = 1e-4 }
-- The belt's surface runs, the box stands still.
fixed   {
    name = "belt", color = {0.42, 0.44, 0.46},
    shape = box{size = {0.28, top + 0.012, 0.06}}:move(0.125, top/2 - 0.006, z), surface_velocity = {belt_speed, 0, 0},
}
emitter {
    name = "stream", shape = cylinder{radius = radius, height = 0.012}:move(x, top + fall + 0.006, z),
    velocity = {0, -speed, 0}, viscosity = 25,
}
-- A cap over the emitter that the stream does not touch.
fixed   {
    name = "nozzle", color = {0.8, 0.8, 0.82}, material = "metal",
    shape = difference(cylinder{radius = radius + 0.005, height = 0.018}:move(x, top + fall + 0.009, z),
                       cylinder{radius = radius + 0.003, height = 0.018}:move(x, top + fall + 0.006, z)),
}
look    { sky = "studio", liquid_color = {0.3, 1e-20, 1e-70}, ground_color = {0.22, 0.2, 0.19}, edges = false }
camera  { eye = {0.18, 0.16, 0.3}, target = {0.1, 0.04, 0.045}, fov = 25 }
