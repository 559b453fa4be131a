-- A wine glass without thickness, half full, is carried across the table and put down; the wine sloshes and stays in it.
param  { radius = 0.045, way = 0.14, seconds = 0.9 } -- m, of the bowl; m and s, of the way

domain { size = {0.32, 0.2, 0.16}, cells = 64 }
time   { fps = 50, seconds = 1.6 }

-- The bowl is a part of a sphere about the origin of the glass, from its lowest point to above the middle. The stem meets it
-- at a ring that both have, where they are welded.
local joint = 0.15*radius
local bowl, steps = {{0, -radius}, {joint, -math.sqrt(radius^2 - joint^2)}}, 12
for i = 1, steps do
    local first = math.asin(joint/radius)
    local angle = first + (math.rad(125) - first)*i/steps
    bowl[#bowl + 1] = {radius*math.sin(angle), -radius*math.cos(angle)}
end
local foot = -radius - 0.06
local stem = {{joint, bowl[2][2]}, {0.7*joint, -radius - 0.012}, {0.7*joint, foot + 0.012}, {0.75*radius, foot}}

-- It starts and ends at rest: the acceleration is a sine.
local function carry(t)
    local s = math.min(t/seconds, 1)
    local x = way*(s - math.sin(2*math.pi*s)/(2*math.pi))
    return { position = {0.08 + x, 0.115 + 0.02*math.sin(math.pi*s)^2, 0.08} }
end
local wine = intersect(sphere{radius = radius}, box{size = {1, radius, 1}}:move(0, -0.5*radius, 0))
liquid { shape = wine:move(0.08, 0.115, 0.08) }
shell  { name = "glass", sheet = weld(revolve(bowl), revolve(stem)), motion = carry, material = "glass" }
look   { sky = "studio", liquid_color = {3e-5, 1e-26, 1e-22}, edges = false }
camera { eye = {0.42, 0.26, 0.62}, target = {0.16, 0.095, 0.08}, fov = 24 }
