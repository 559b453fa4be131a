-- Honey runs over a tilted plate without thickness, to which it sticks, and from its lower edge into a glass bowl without
-- thickness.
param  { viscosity = 15, radius = 0.14 } -- Pa s; m, of the bowl

domain  { size = {0.6, 0.6, 0.4}, cells = 36 }
time    { fps = 50, seconds = 3 }
emitter { shape = cylinder{radius = 0.04, height = 0.06}:move(0.2, 0.54, 0.2), velocity = {0, -0.6, 0}, density = 1400,
          viscosity = viscosity, seconds = 1.2 }
shell   { name = "plate", sheet = plate{size = {0.26, 0.26}}:rotate{axis = {0, 0, 1}, degrees = -25}:move(0.22, 0.4, 0.2) }
shell   { name = "bowl", sheet = hemisphere{radius = radius}:move(0.37, 0.19, 0.2), material = "glass" }
look    { sky = "studio", liquid_color = {0.5, 0.003, 1e-8}, edges = false }
camera  { eye = {0.9, 0.7, 1.2}, target = {0.3, 0.28, 0.2}, fov = 32 }
