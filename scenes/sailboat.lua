-- A sailing boat: the wind fills its sail and drives it across a pond.
--
-- The sail is cloth, attached to mast and boom of a rigid hull. The key `wind` presses on what is dry of it with 0.6 kg/m^3 s |s|; water,
-- hull and sail are one solve. Calm: --set cloth.wind={0,0,0}. Half a minute on one core.
param   { speed = 5 } -- m/s, of the wind

domain  { size = {2, 0.9, 0.8}, cells = 40 }
time    { fps = 50, seconds = 1.2 }
liquid  { shape = box{size = {4, 0.3, 4}}:move(1, 0.15, 0.4) }

local x, z, deck = 0.45, 0.4, 0.36 -- where the boat starts
local hull = box{size = {0.5, 0.14, 0.22}}:move(x, deck - 0.07, z)
local mast = box{size = {0.05, 0.5, 0.05}}:move(x + 0.08, deck + 0.24, z)
rigid   { name = "boat", shape = union(hull, mast), density = 450, color = {0.55, 0.35, 0.2} }
cloth   { name = "sail", sheet = plate{size = {0.36, 0.3}, edge = 0.06}:rotate{axis = {0, 0, 1}, degrees = 90}:move(x - 0.02, deck + 0.26, z),
          density = 0.15, stretch = 3000, bend = 1e-4, damping = 1e-2, wind = {speed, 0, 0},
          attached = {{ solid = "boat", where = function(a, b, c) return math.abs(b - deck - 0.26) > 0.17 end }}, color = {0.8, 0.3, 0.15} }
camera  { eye = {2.3, 1.0, 2.1}, target = {0.62, 0.45, 0.4}, fov = 30 }
look    { sky = "studio", edges = false }
