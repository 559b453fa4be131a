-- A smoke ring: a puff leaves a source for a tenth of a second, rolls up and flies on by itself.
-- monolith run scenes/smoke_ring.lua; finer: --set domain.cells=128
domain  { size = {1.5, 0.75, 0.75}, cells = 96, walls = "open" }
gravity { 0, 0, 0 }
time    { fps = 50, seconds = 2, cfl = 1 }
air     {}
smoke   { name = "puff", shape = cylinder{radius = 0.1, height = 0.06}:rotate{axis = {0, 0, 1}, degrees = 90}:move(0.2, 0.375, 0.375),
          density = 4e-3, velocity = {2, 0, 0}, seconds = 0.1 }
camera  { eye = {0.75, 0.55, 3.2}, target = {0.75, 0.35, 0.375}, fov = 28 }
