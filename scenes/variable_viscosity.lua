-- A block falls on the floor. Its viscosity rises along its length from oil to tar: one end splashes, the other
-- hardly bends. After fig. 7 of Larionov, Batty and Bridson (2017), Variational Stokes, and Batty and Bridson (2008).
--
-- Takes about a minute on 2 cores. The paper's detail: --set domain.cells=240.
param   { thin = 0.1, thick = 10000 } -- Pa s, at the left and at the right end

domain  { size = {2.4, 0.7, 2.0}, cells = 96, walls = {ymin = "no-slip", ymax = "open"} }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 0.4 }
liquid  {
    name = "block", shape = box{size = {1.0, 0.25, 0.25}}:move(1.5, 0.18, 1.0), velocity = {0, -1.5, 0},
    viscosity = function(x, y, z) return thin*(thick/thin)^(x - 1.0) end,
}

look    { sky = "studio", opaque = true, liquid_color = {0.16, 0.42, 0.22},
          ground_color = {0.5, 0.48, 0.45}, edges = false }
camera  { eye = {1.5, 1.15, 3.7}, target = {1.33, 0.16, 1.0}, fov = 25 }
