-- A rabbit of water falls onto a flight of stairs and runs down.
param   { steps = 6, height = 0.55 } -- number of steps; height of the rabbit, m

domain  { size = {1.2, 1.2, 0.6}, cells = 64, walls = "slip" }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 2 }

look    { edges = false }
camera  { eye = {1.75, 1.15, 2.00}, target = {0.48, 0.47, 0.30}, fov = 31 }

-- The highest step is at x = 0. Each is a box that reaches under the higher ones, so that no gap lies between them.
local run, rise = 0.75/steps, 0.42/steps
for i = 1, steps do
    local top = (steps - i + 1)*rise
    fixed { name = "step" .. i, shape = box{size = {2*i*run, 2*top, 2}}, color = {0.62, 0.40, 0.26} }
end

liquid  { name = "rabbit", shape = rabbit{height = height}:move(0.35, 0.85, 0.3) }
