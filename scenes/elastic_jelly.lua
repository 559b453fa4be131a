-- A cube of jelly falls into a pool, sinks and wobbles on the floor; a ring of soft rubber comes after it and floats.
--
-- Pressure, elasticity and contact are one solve, so the cube neither leaks nor shakes where water, floor and jelly meet.
-- Softer: --set 'elastic[1].young=1500'. A few minutes on one core; quicker: --set domain.cells=32.
param   { depth = 0.16 } -- of the pool, m

domain  { size = {0.8, 0.8, 0.8}, cells = 48 }
time    { fps = 50, seconds = 1.6 }
liquid  { shape = box{size = {0.8, depth, 0.8}}:move(0.4, depth/2, 0.4) }

elastic { name = "cube", shape = box{size = {0.2, 0.2, 0.2}}:rotate{axis = {1, 0.3, 0.6}, degrees = 35}:move(0.33, 0.42, 0.42),
          element = 0.034, density = 1300, young = 5e3, viscosity = 2, color = {0.75, 0.06, 0.05}, material = "coat" }
elastic { name = "ring", shape = torus{major = 0.1, minor = 0.04}:rotate{axis = {1, 0, 0.3}, degrees = 25}:move(0.52, 0.66, 0.36),
          element = 0.03, density = 350, young = 3e4, viscosity = 2, color = {0.85, 0.55, 0.06}, material = "coat" }

camera  { eye = {1.15, 0.72, 1.75}, target = {0.42, 0.15, 0.42}, fov = 23 }
look    { edges = false }
