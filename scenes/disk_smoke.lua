-- A disk without thickness passes through smoke: first along its own plane, which disturbs nothing, then back while it spins.
-- monolith run scenes/disk_smoke.lua; finer: --set domain.cells=120
param   { radius = 0.15, speed = 1, spin = 1.5, tilt = 25 } -- m; m/s; turns per second on the way back, 0: none; degrees

local reach, turn = 0.75, 1.5/speed -- m from the middle; s at which the disk turns round
domain  { size = {2, 1, 1}, cells = 80, walls = "open" }
gravity { 0, 0, 0 }
time    { fps = 50, seconds = 2*turn, cfl = 1 }
air     {}
smoke   { name = "cloud", shape = sphere{radius = 0.25}:move(1, 0.5, 0.5), density = 6e-3 }
shell   { name = "disk", sheet = disk{radius = radius}:rotate{axis = {1, 0, 0}, degrees = tilt}, color = {0.75, 0.3, 0.2},
          motion = function(t)
              local x = t < turn and 1 - reach + speed*t or 1 + reach - speed*(t - turn)
              return { position = {x, 0.5, 0.5}, rotation = {axis = {0, 0, 1}, degrees = t < turn and 0 or 360*spin*(t - turn)} }
          end }
camera  { eye = {1, 0.9, 3.6}, target = {1, 0.48, 0.5}, fov = 32 }
