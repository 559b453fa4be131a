-- A stream flows round a post, a cone, a sphere and a box that stand on the floor and touch it exactly.
domain  { size = {0.8, 0.1, 0.4}, cells = 80, walls = {xmin = "open", xmax = "open", ymax = "open"} }
time    { fps = 50, seconds = 2 }
liquid  { shape = box{size = {0.8, 0.05, 0.4}}:move(0.4, 0.025, 0.2), velocity = {0.4, 0, 0} }
emitter { shape = box{size = {0.03, 0.05, 0.4}}:move(0.015, 0.025, 0.2), velocity = {0.4, 0, 0} }
fixed   { name = "post", shape = cylinder{radius = 0.03, height = 0.1}:move(0.2, 0.05, 0.1) }
fixed   { name = "cone", shape = cone{radius = 0.05, height = 0.08}:move(0.35, 0.04, 0.3) }
fixed   { name = "ball", shape = sphere{radius = 0.04}:move(0.5, 0.04, 0.12) }
fixed   { name = "box",  shape = box{size = {0.06, 0.06, 0.06}}:move(0.64, 0.03, 0.27) }
camera  { eye = {0.5, 0.75, 1.1}, target = {0.4, 0.0, 0.2}, fov = 35 }
