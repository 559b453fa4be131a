-- A leaf, a light plate without thickness, glides down through a cloud of smoke.
-- monolith run scenes/leaf.lua; finer: --set domain.cells=96
param   { density = 0.25, tilt = 20 } -- kg/m^2; degrees

domain  { size = {1.2, 1.5, 0.9}, cells = 60 }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 1.6, cfl = 1 }
air     {}
smoke   { name = "cloud", shape = box{size = {1, 0.5, 0.7}}:move(0.6, 0.6, 0.45), density = 4e-3 }
shell   { name = "leaf", sheet = plate{size = {0.3, 0.2}}:rotate{axis = {0, 0, 1}, degrees = tilt}:move(0.6, 1.3, 0.45),
          density = density, color = {0.75, 0.3, 0.2} }
camera  { eye = {0.6, 0.9, 4.2}, target = {0.6, 0.7, 0.45}, fov = 30 }
