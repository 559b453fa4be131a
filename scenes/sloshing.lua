-- A tank on wheels: five walls that move together from side to side for a few periods and then stand still, while the
-- water in it goes on sloshing.
param   { amplitude = 0.1, period = 1.0, periods = 2 } -- m, s, how often the tank goes to and fro

domain  { size = {1.4, 0.7, 0.7}, cells = 64, walls = "slip" }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 4 }

look    { edges = false, sky = "studio" }
camera  { eye = {1.55, 0.75, 2.05}, target = {0.70, 0.27, 0.35}, fov = 32 }

-- Inner size 0.8 x 0.5 x 0.4 m, walls 0.06 m, open at the top. In its own frame the tank stands round the origin.
local inner, wall = {0.8, 0.5, 0.4}, 0.06
local outside = box{size = {inner[1] + 2*wall, inner[2] + wall, inner[3] + 2*wall}}
local inside = box{size = {inner[1], inner[2] + wall, inner[3]}}:move(0, wall, 0)
local x, y, z = 0.6, 0.35, 0.35 -- where it starts, m

moving  {
    name = "tank",
    shape = difference(outside, inside),
    material = "glass",
    -- To +2 amplitude and back, with zero velocity at both ends of the motion.
    motion = function(t)
        local phase = 2*math.pi*math.min(t/period, periods)
        return { position = {x + amplitude*(1 - math.cos(phase)), y, z} }
    end,
}

-- Water 0.2 m deep; the part of the box inside the walls does not count.
local floor = y - (inner[2] + wall)/2 + wall
local water = box{size = {inner[1] + wall, 0.2 + wall/2, inner[3] + wall}}
liquid  { name = "water", shape = water:move(x, floor + 0.1 - wall/4, z) }
