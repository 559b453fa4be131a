-- Two streams flow past each other on the two sides of a plate without thickness, at an angle to the lattice.
-- monolith run scenes/opposite_flows.lua; finer: --set domain.cells=128
param   { degrees = 11.25, speed = 1 } -- of the plate; m/s

local along = {speed*math.cos(math.rad(degrees)), speed*math.sin(math.rad(degrees))}
local slope = math.tan(math.rad(degrees))
domain  { size = {1, 1}, cells = 64, walls = "open" }
gravity { 0, 0 }
time    { fps = 50, seconds = 2, cfl = 1 }
air     {}
smoke   { name = "up", shape = box{size = {0.08, 0.25}}:move(0.1, 0.5 - 0.4*slope + 0.16), density = 4e-3, velocity = along, seconds = 100 }
smoke   { name = "down", shape = box{size = {0.08, 0.25}}:move(0.9, 0.5 + 0.4*slope - 0.16), density = 4e-3,
          velocity = {-along[1], -along[2]}, seconds = 100 }
shell   { name = "plate", sheet = curve{{-0.7, 0}, {0.7, 0}}:rotate{axis = {0, 0, 1}, degrees = degrees}:move(0.5, 0.5), color = {0.75, 0.3, 0.2} }
