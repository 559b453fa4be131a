-- Dam break: a column of water 0.3 m wide and 0.6 m high over the whole depth of a unit tank collapses.
param   { width = 0.3, height = 0.6 }

domain  { size = {1, 1, 1}, cells = 64, walls = "slip" }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 2 }
-- The box is twice as large as the column: what lies outside the domain does not count.
liquid  { name = "column", shape = box{size = {2*width, 2*height, 4}} }
camera  { eye = {1.6, 0.95, 2.6}, target = {0.5, 0.42, 0.5}, fov = 31 }
