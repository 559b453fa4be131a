-- Dam break in two dimensions: a column of water 0.3 m wide and 0.6 m high collapses in a unit tank.
param   { width = 0.3, height = 0.6 }

domain  { size = {1, 1}, cells = 128, walls = "slip" }
gravity { 0, -9.81 }
time    { fps = 50, seconds = 2 }
liquid  { name = "column", shape = box{size = {2*width, 2*height}} }
