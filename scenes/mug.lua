-- A jet fills a mug that stands on the floor; a cube floats in it; the mug runs over. 20 seconds.
-- At 40 cells a few minutes on one core.
domain  { size = {0.4, 0.4, 0.4}, cells = 40, walls = {xmin = "open", xmax = "open", zmin = "open", zmax = "open", ymax = "open"} }
time    { fps = 25, seconds = 20 }
fixed   { name = "mug", material = "glass",
          shape = difference(cylinder{radius = 0.1, height = 0.2}:move(0.2, 0.1, 0.2),
                             cylinder{radius = 0.078, height = 0.2}:move(0.2, 0.122, 0.2)) }
liquid  { shape = cylinder{radius = 0.078, height = 0.07}:move(0.2, 0.057, 0.2) }
rigid   { name = "cube", shape = box{size = {0.05, 0.05, 0.05}}:move(0.225, 0.09, 0.2), density = 500, color = {0.8, 0.3, 0.1} }
emitter { shape = cylinder{radius = 0.02, height = 0.03}:move(0.17, 0.36, 0.2), velocity = {0, -0.6, 0} }
camera  { eye = {0.75, 0.55, 0.95}, target = {0.2, 0.12, 0.2}, fov = 28 }
