-- A fountain: a jet rises from the floor, falls back and runs off through the open sides.
param   { speed = 4, radius = 0.05 } -- m/s (rises to speed^2/2g = 0.8 m), m

domain  {
    size = {1, 1, 1}, cells = 64,
    walls = {xmin = "open", xmax = "open", ymin = "slip", ymax = "open", zmin = "open", zmax = "open"},
}
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 2 }
emitter { name = "jet", shape = cylinder{radius = radius, height = 0.12}:move(0.5, 0.06, 0.5), velocity = {0, speed, 0} }
look    { sky = "dusk" }
camera  { eye = {1.3, 0.55, 2.3}, target = {0.5, 0.38, 0.5}, fov = 32 }
