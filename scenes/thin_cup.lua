-- A glass cup without thickness is filled with water, which stays inside; a second ball of water then falls in and spills over
-- the rim.
param  { radius = 0.15, height = 0.22, level = 0.12 } -- m, of the cup and of the water in it

domain { size = {0.6, 0.6, 0.6}, cells = 32 }
time   { fps = 50, seconds = 2 }
liquid { shape = cylinder{radius = radius, height = level}:move(0.3, 0.1 + 0.5*level, 0.3) }
liquid { shape = sphere{radius = 0.1}:move(0.3, 0.47, 0.3) }
shell  { name = "cup", sheet = cup{radius = radius, height = height}:move(0.3, 0.1, 0.3), material = "glass" }
camera { eye = {1.1, 0.75, 1.3}, target = {0.3, 0.22, 0.3}, fov = 32 }
