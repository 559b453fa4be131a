-- A heavy rabbit falls into four tanks. From left to right: Newtonian; thins when sheared, and the rabbit sinks fastest;
-- thickens; Bingham, which holds it where the stress stays below its yield stress. The numbers are those of figure 11 of
-- Takahashi and Batty (2020), Monolith.
--
-- One tank alone: --set param.only=3.
-- Takes about 3 minutes on 2 cores. The paper's detail, 64 cells for a tank: --set domain.cells=266.
param   { density = 2000, only = 0 } -- of the rabbits, kg/m^3; a tank 1..4, 0 = all

local rheologies = {
    { name = "newtonian", consistency = 10 },
    { name = "thinning", consistency = 10, flow_index = 0.5, yield_stress = 1, threshold = 1 },
    { name = "thickening", consistency = 10, flow_index = 2, yield_stress = 1, threshold = 1 },
    { name = "bingham", consistency = 100, yield_stress = 1000, threshold = 1 },
}
local tanks = {}
for i, r in ipairs(rheologies) do
    if only == 0 or only == i then table.insert(tanks, r) end
end
local width, wall, depth = 0.5, 0.08, 0.45 -- m

domain  { size = {#tanks*width + wall, 0.75, depth}, cells = math.ceil(18*math.max(#tanks + wall/width, 0.75/width)), walls = {ymax = "open"} }
time    { fps = 50, seconds = 0.6 }
solver  { rounds = 2 }
for i, r in ipairs(tanks) do
    local name, x = r.name, width*(i - 0.5) + wall/2
    r.name = nil
    liquid { name = name, shape = box{size = {width - wall, 0.72, 4}}:move(x, 0, 0), rheology = r }
    rigid  { name = name .. "_rabbit", shape = rabbit{height = 0.2}:move(x, 0.5, depth/2), density = density,
             velocity = {0, -1, 0}, friction = 0, color = {0.75, 0.72, 0.65}, material = "coat" }
end
for i = 0, #tanks do
    fixed { name = "wall" .. i, shape = box{size = {wall, 1, 4}}:move(width*i + wall/2, 0, 0), wall = "slip", material = "glass" }
end

look    { sky = "studio", liquid_color = {0.5, 0.2, 0.02}, ground_color = {0.5, 0.48, 0.45}, edges = false }
camera  { eye = {width*#tanks/2, 0.6, 3.4}, target = {width*#tanks/2, 0.25, 0.2}, fov = 22 }
