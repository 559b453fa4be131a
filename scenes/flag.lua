-- A flag in the wind: 1 x 0.6 m of cloth, attached to a pole, in a wind of 8 m/s.
--
-- Air and cloth are one solve. The flag gets its waves from the air alone; the wind comes through one wall and leaves through the others.
-- A storm: --set param.speed=14; finer: --set domain.cells=60 --set param.edge=0.04. A minute on one core.
param   { speed = 8, density = 0.1, edge = 0.1 } -- m/s; kg/m^2; m, of triangles

domain  { size = {2.4, 1.4, 1.2}, cells = 24, walls = "open" }
time    { fps = 50, seconds = 1, cfl = 2 }
air     { wind = {speed, 0, 0}, margin = 4 }
fixed   { name = "pole", shape = capsule{radius = 0.02, height = 1.2}:move(0.33, 0.6, 0.6), color = {0.6, 0.6, 0.62}, material = "metal" }
cloth   { name = "flag", sheet = plate{size = {1, 0.6}, edge = edge}:rotate{axis = {1, 0, 0}, degrees = 90}
                                     :rotate{axis = {0, 1, 0}, degrees = 8}:move(0.9, 0.85, 0.53),
          density = density, stretch = 2000, bend = 2e-5, damping = 2e-3,
          pins = {{ where = function(x, y, z) return x < 0.42 end }}, color = {0.8, 0.12, 0.1} }
camera  { eye = {1.5, 1.05, 3.2}, target = {0.95, 0.8, 0.6}, fov = 30 }
look    { sky = "studio", edges = false }
