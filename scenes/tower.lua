-- A tower of ten boxes stands until a ball hits it: momentum goes from body to body.
--
-- Nothing moves before the ball comes. --set param.speed=0: no ball. About half a minute.
param   { speed = 4, friction = 0.5 } -- of the ball, m/s

domain  { size = {1.6, 1.2, 0.8}, cells = 64, friction = friction }
time    { fps = 50, seconds = 2, max_step = 0.01 }

local dx, edge = 1.6/64, 0.1
local overlap = 0.1*dx -- what contacts let be: the tower begins at rest
for k = 1, 10 do
    rigid { name = "box" .. k, density = 600, friction = friction,
            shape = box{size = {edge, edge, edge}}:rotate{axis = {0, 1, 0}, degrees = 8*(k % 3 - 1)}
                :move(0.9, (k - 0.5)*(edge - overlap) - 0.5*overlap, 0.4),
            color = k % 2 == 0 and {0.72, 0.52, 0.25} or {0.45, 0.26, 0.12} }
end
if speed > 0 then
    rigid { name = "ball", shape = sphere{radius = 0.08}:move(0.12, 0.55, 0.4), density = 1500, friction = 0.3, restitution = 0.3,
            velocity = {speed, 0.8, 0}, color = {0.15, 0.3, 0.55}, material = "coat" }
end

camera  { eye = {1.5, 0.8, 2.9}, target = {0.85, 0.45, 0.4}, fov = 26 }
look    { sky = "studio", edges = false }
