-- A cup without thickness floats at the draft of its weight. A ball of water falls into it and pushes it down; it comes up
-- again and carries the water.
param  { radius = 0.12, height = 0.2, density = 20, ball = 0.07, level = 0.25 } -- m, kg/m^2

domain { size = {0.6, 0.6, 0.6}, cells = 32 }
time   { fps = 50, seconds = 1 }
local draft = density * (1 + 2*height/radius) / 1000 -- it displaces its own mass
local pool = box{size = {0.6, level, 0.6}}:move(0.3, 0.5*level, 0.3)
liquid { shape = difference(pool, cylinder{radius = radius, height = 0.6}:move(0.3, level - draft + 0.3, 0.3)) }
liquid { shape = sphere{radius = ball}:move(0.3, 0.47, 0.3) }
shell  { name = "cup", sheet = cup{radius = radius, height = height}:move(0.3, level - draft, 0.3), density = density,
         color = {0.9, 0.6, 0.2} }
camera { eye = {1.1, 0.75, 1.3}, target = {0.3, 0.22, 0.3}, fov = 32 }
