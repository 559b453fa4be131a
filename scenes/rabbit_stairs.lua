-- A rabbit of water falls onto a flight of stairs and runs down.
param   { steps = 6, height = 0.45 } -- number of steps; height of the rabbit, m

domain  { size = {1.6, 1.2, 0.8}, cells = 64, walls = "slip" }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 2 }

-- Each step is a box from the floor up; the highest one is at x = 0.
local run, rise = 0.9/steps, 0.5/steps
for i = 1, steps do
    local top = (steps - i + 1)*rise
    fixed { name = "step" .. i, shape = box{size = {run, 2*top, 2}}:move((i - 0.5)*run, 0, 0.4) }
end

liquid  { name = "rabbit", shape = rabbit{height = height}:move(0.4, 0.85, 0.4) }
