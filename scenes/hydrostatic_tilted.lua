-- Water at rest in a tilted tank whose walls cross the cells at an angle. fill = 1 is a full tank without any air.
param   { angle = 20, fill = 0.5, three_dimensions = false } -- degrees; part of the height

domain  { size = three_dimensions and {1, 1, 0.5} or {1, 1}, cells = 64, walls = "slip" }
gravity { 0, -9.81 }
time    { fps = 50, seconds = 1 }

-- The tank is a square of edge 0.6 m round the middle of the domain; everything outside it is solid.
local half = 0.3
local function wall(x, y) -- the half space beyond the side that faces (x, y)
    return plane{normal = {-x, -y}, offset = -half}
end
local function tilted(shape) return shape:rotate{axis = {0, 0, 1}, degrees = angle}:move(0.5, 0.5) end
fixed   { name = "tank", shape = tilted(union(wall(1, 0), wall(-1, 0), wall(0, 1), wall(0, -1))) }

-- The liquid reaches a little into the walls, where it does not count: a wall is no free surface.
local room = tilted(box{size = {2*half + 0.1, 2*half + 0.1, 4}})
local extent = half*(math.cos(math.rad(angle)) + math.sin(math.rad(math.abs(angle))))
local surface = fill < 1 and 0.5 - extent + 2*extent*fill or 2
liquid  { name = "water", shape = intersect(room, plane{normal = {0, 1, 0}, offset = surface}) }
