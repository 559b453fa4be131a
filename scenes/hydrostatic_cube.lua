-- Water at rest in a tilted cube, under gravity that is tilted too; with body = "ball" or "box" something floats in it.
-- tilt = 0 leaves the cube out: then the domain is the tank.
-- monolith run scenes/hydrostatic_cube.lua --set param.axis_x=1 --set time.seconds=8
param   { tilt = 20, axis_x = 0, axis_y = 0, axis_z = 1, lean = 17, body = "none", radius = 0.15 } -- degrees; m

domain  { size = {1, 1, 1}, cells = 20, walls = "slip" }
local a = math.rad(lean)
local up = {math.sin(a), math.cos(a), 0}
gravity { -9.81*up[1], -9.81*up[2], 0 }
time    { fps = 25, seconds = 2 }

local middle, height = 0.5, 0.5573
local function wall(x, y, z) -- the half space beyond the side that faces (x, y, z)
    return plane{normal = {-x, -y, -z}, offset = -0.315}
end
local walls = union(wall(1, 0, 0), wall(-1, 0, 0), wall(0, 1, 0), wall(0, -1, 0), wall(0, 0, 1), wall(0, 0, -1))
if tilt > 0 then
    fixed { name = "tank", shape = walls:rotate{axis = {axis_x, axis_y, axis_z}, degrees = tilt}:move(0.5, 0.5, 0.5) }
end
liquid  { name = "water", shape = plane{normal = up, offset = up[1]*middle + up[2]*height}, viscosity = 0.001 }

local shapes = {ball = sphere{radius = radius}, box = box{size = {2*radius, 1.2*radius, 2*radius}}}
if shapes[body] then
    rigid { name = body, shape = shapes[body]:rotate{axis = {0, 0, 1}, degrees = -lean}:move(middle, height, 0.5), density = 500 }
end
