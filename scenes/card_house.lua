-- A house of cards: six tents of leaning plates on three storeys, held up by friction alone. After `hit` seconds a ball
-- comes and brings it down.
--
-- The plates lean edge against edge, 20 degrees from the vertical, and need friction of at least tan 20 = 0.36 at their
-- feet: --set param.friction=0.3 and the house slides apart at once. About half a minute.
param   { friction = 0.6, hit = 0.6, speed = 2.5 } -- hit: when the ball arrives, s; 0: never

domain  { size = {1.92, 1.28, 0.6}, cells = 96, friction = friction }
time    { fps = 50, seconds = 1.6, max_step = 0.01 }

local dx = 1.92/96
local overlap = 0.1*dx -- what contacts let be: everything begins at rest
local length, thickness, width, lean = 0.3, 0.04, 0.2, 20
local a = math.rad(lean)
local wide, tall = thickness*math.cos(a) + length*math.sin(a), length*math.cos(a) + thickness*math.sin(a)
local apart, middle, z = 0.3, 1.0, 0.3
local paints = {{0.62, 0.12, 0.10}, {0.85, 0.82, 0.74}, {0.12, 0.22, 0.42}}

local plates = 0
local function plate(shape, x, y, color)
    plates = plates + 1
    rigid { name = "card" .. plates, shape = shape:move(x, y, z), density = 700, friction = friction, color = color }
end

local y = 0 -- where the storey stands
for storey = 3, 1, -1 do
    for k = 1, storey do
        local x = middle + (k - 0.5*(storey + 1))*apart
        for side = -1, 1, 2 do
            plate(box{size = {thickness, length, width}}:rotate{axis = {0, 0, 1}, degrees = side*lean},
                  x + 0.5*side*(wide - overlap), y + 0.5*tall - overlap, paints[storey])
        end
    end
    y = y + tall - overlap
    if storey > 1 then
        plate(box{size = {(storey - 1)*apart + 0.2, thickness, width}}, middle, y + 0.5*thickness - overlap, {0.55, 0.42, 0.24})
        y = y + thickness - overlap
    end
end

if hit > 0 then
    -- It starts outside, as far off as it takes.
    local start = middle - apart - 0.5*wide - 0.16 - speed*hit
    moving { name = "ball", shape = sphere{radius = 0.09}, friction = 0.3, color = {0.2, 0.2, 0.22}, material = "metal",
             motion = function(t)
                 local x = math.min(start + speed*t, middle + 0.1)
                 return { position = {x, 0.12, z}, rotation = {axis = {0, 0, 1}, degrees = -math.deg((x - start)/0.09)} }
             end }
end

camera  { eye = {1.9, 0.95, 3.0}, target = {0.98, 0.42, 0.3}, fov = 26 }
look    { sky = "studio", edges = false }
