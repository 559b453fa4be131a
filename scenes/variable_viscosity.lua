-- A block falls on the floor. Its viscosity rises along its length from water-thin to tar: one end splashes, the other
-- hardly bends. After fig. 7 of Larionov, Batty and Bridson (2017), Variational Stokes, and Batty and Bridson (2008).
--
-- The paper's detail: --set domain.cells=160.
param   { thin = 0.1, thick = 10000 } -- Pa s, at the left and at the right end

domain  { size = {1.6, 0.8, 0.8}, cells = 64, walls = {ymin = "no-slip", ymax = "open"} }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 0.8 }
liquid  {
    name = "block", shape = box{size = {1.0, 0.25, 0.25}}:move(0.8, 0.20, 0.4), velocity = {0, -2, 0},
    viscosity = function(x, y, z) return thin*(thick/thin)^((x - 0.3)/1.0) end,
}

look    { sky = "studio", opaque = true, liquid_color = {0.16, 0.42, 0.22}, ground_color = {0.5, 0.48, 0.45} }
camera  { eye = {1.0, 1.1, 3.1}, target = {0.8, 0.22, 0.4}, fov = 27 }
