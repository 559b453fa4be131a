-- A cylinder in wind, in two dimensions: a streak of smoke parts round it. A wall of wind, an open one.
-- monolith run scenes/cylinder_smoke.lua
domain  { size = {2, 0.5}, cells = 200, walls = {xmin = "wind", xmax = "open"} }
gravity { 0, 0, 0 }
time    { fps = 25, seconds = 6, cfl = 1 }
air     { wind = {1, 0, 0}, margin = 64 }
smoke   { name = "streak", shape = box{size = {0.06, 0.12}}:move(0.1, 0.25), density = 4e-3, seconds = 100 }
fixed   { name = "cylinder", shape = sphere{radius = 0.05}:move(0.4, 0.255), color = {0.7, 0.3, 0.2} }
