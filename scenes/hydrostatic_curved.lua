-- Water at rest inside a hollow sphere, or a cylinder seen along its axis in two dimensions. fill = 1 is a full tank
-- without any air.
param   { fill = 0.5, three_dimensions = true } -- part of the inner height that is filled

domain  { size = three_dimensions and {1, 1, 1} or {1, 1}, cells = three_dimensions and 48 or 64, walls = "slip" }
gravity { 0, -9.81 }
time    { fps = 50, seconds = 1 }

local inner, wall = 0.36, 0.1 -- m
local function round(radius) -- a sphere, or a cylinder along z
    if three_dimensions then return sphere{radius = radius}:move(0.5, 0.5, 0.5) end
    return cylinder{radius = radius, height = 4}:rotate{axis = {1, 0, 0}, degrees = 90}:move(0.5, 0.5)
end
fixed   { name = "tank", shape = difference(round(inner + wall), round(inner)) }
-- The liquid reaches into the wall, where it does not count: a wall is no free surface.
local surface = fill < 1 and 0.5 - inner + 2*inner*fill or 2
liquid  { name = "water", shape = intersect(round(inner + wall/2), plane{normal = {0, 1, 0}, offset = surface}) }
