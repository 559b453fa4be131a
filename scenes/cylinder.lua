-- A cylinder without thickness in a stream, in two dimensions: air slips past it and sheds vortices behind it.
-- monolith run scenes/cylinder.lua; by ghosts and multipliers: --set solver.shells=paper
param   { radius = 0.05, speed = 1, sides = 64 } -- m; m/s; even, of the polygon

local function half(sign) -- of the ring, from its right to its left end
    local line = {{radius, 0}}
    for k = 1, sides/2 - 1 do
        line[k + 1] = {radius*math.cos(2*math.pi*k/sides), sign*radius*math.sin(2*math.pi*k/sides)}
    end
    line[sides/2 + 1] = {-radius, 0}
    return curve(line)
end
domain  { size = {2, 0.5}, cells = 200, walls = {xmin = "wind", xmax = "open"} }
gravity { 0, 0 }
time    { fps = 25, seconds = 8, cfl = 1 }
air     { wind = {speed, 0}, margin = 64 }
smoke   { name = "streak", shape = box{size = {0.06, 0.12}}:move(0.1, 0.25), density = 4e-3, seconds = 100 }
shell   { name = "cylinder", sheet = weld(half(1), half(-1)):move(0.4, 0.253), color = {0.75, 0.3, 0.2} }
