-- A pool of cloth: a round sheet that is held along its rim sags under the water that falls into it,
-- and carries what does not swash over its rim.
--
-- Water and cloth are one solve: the water presses on every triangle, and the cloth's tension turns the water. After figure 9 of
-- Robinson-Mosher, English and Fedkiw, "Accurate tangential velocities for solid fluid coupling" (2009). A stiffer cloth throws the
-- water out again: --set cloth.stretch=20000. The force on the pins is `held` in bodies.jsonl. A minute on one core.
param  { radius = 0.3, sag = 0.15 } -- m, of the rim and of the cloth when it is empty

domain { size = {0.8, 0.7, 0.8}, cells = 32 }
time   { fps = 50, seconds = 1 }

-- An arc of a sphere through the rim; its pole is the deepest point.
local ball = (radius^2 + sag^2)/(2*sag)
local line = {}
for k = 0, 12 do
    local angle = k/12*math.asin(radius/ball)
    line[k + 1] = { ball*math.sin(angle), ball*(1 - math.cos(angle)) }
end
line[1][1], line.edge = 0, 0.03
cloth  { name = "pool", sheet = revolve(line):move(0.4, 0.3 - sag, 0.4), density = 0.3, stretch = 4000, bend = 1e-4, damping = 1e-2,
         pins = {{ where = function(x, y, z) return (x - 0.4)^2 + (z - 0.4)^2 > (0.97*radius)^2 end }}, color = {0.85, 0.35, 0.2} }
liquid { shape = sphere{radius = 0.11}:move(0.4, 0.42, 0.4) }
liquid { shape = box{size = {2, 0.06, 2}}:move(0.4, 0.03, 0.4) }

fixed  { name = "ring", shape = torus{major = radius + 0.018, minor = 0.015}:move(0.4, 0.3, 0.4), color = {0.5, 0.5, 0.55}, material = "metal" }

camera { eye = {1.2, 0.95, 1.5}, target = {0.4, 0.2, 0.4}, fov = 27 }
look   { sky = "studio", edges = false }
