-- A heavy ring falls through water onto a sheet of cloth and carries it down to the floor.
--
-- Ring, cloth and water are one solve: the cloth wraps the ring, the water below it must pass round its border. After figure 12 of
-- Robinson-Mosher, English and Fedkiw, "Accurate tangential velocities for solid fluid coupling" (2009), on its grid of 20 x 20 x 20 cells.
-- A light cloth is dragged along; a heavy one sinks by itself: --set cloth.density=5. Some minutes on one core.
domain { size = {1, 1, 1}, cells = 20 }
time   { fps = 50, seconds = 2 }

liquid { shape = box{size = {2, 0.8, 2}}:move(0.5, 0.4, 0.5) }
cloth  { name = "sheet", sheet = plate{size = {0.7, 0.7}, edge = 0.07}:rotate{axis = {0, 1, 0}, degrees = 20}:move(0.5, 0.5, 0.5),
         density = 0.5, stretch = 500, bend = 1e-4, damping = 1e-2, color = {0.85, 0.35, 0.2} }
rigid  { name = "ring", shape = torus{major = 0.16, minor = 0.06}:move(0.5, 0.66, 0.5), density = 3000, friction = 0.3, color = {0.35, 0.4, 0.5},
         material = "metal" }

camera { eye = {1.9, 1.0, 2.3}, target = {0.5, 0.35, 0.5}, fov = 30 }
look   { sky = "studio", edges = false }
