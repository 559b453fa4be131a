-- A drop of water falls into a pool 0.25 m deep.
param   { radius = 0.12, speed = 2, depth = 0.25 } -- m, m/s, m

domain  { size = {1, 1, 1}, cells = 64, walls = "slip" }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 1.5 }
liquid  { name = "pool", shape = plane{normal = {0, 1, 0}, offset = depth} }
liquid  { name = "drop", shape = sphere{radius = radius}:move(0.5, 0.7, 0.5), velocity = {0, -speed, 0} }
camera  { eye = {1.35, 0.85, 2.15}, target = {0.5, 0.25, 0.5}, fov = 30 }
