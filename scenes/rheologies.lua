-- Four rabbits fall on the floor side by side. From left to right: Newtonian; thins when sheared and runs apart at the
-- impact; thickens and lands softly; Bingham, which keeps its shape where the stress stays below its yield stress.
-- The numbers are those of fig. 10 of Takahashi and Batty (2020), Monolith, which drops a dragon.
--
-- Takes about 2 minutes on 2 cores. The paper's detail, if its domain was a metre wide: --set domain.cells=410.
param   { height = 0.35 } -- of the rabbits, m

domain  { size = {3.2, 0.6, 0.8}, cells = 256, walls = {ymin = "no-slip", ymax = "open"} }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 0.4 }
solver  { rounds = 2 }

local rheologies = {
    { name = "newtonian", consistency = 11 },
    { name = "thinning", consistency = 10, flow_index = 0.5, yield_stress = 1, threshold = 1 },
    { name = "thickening", consistency = 10, flow_index = 2, yield_stress = 1, threshold = 1 },
    { name = "bingham", consistency = 10, yield_stress = 1000, threshold = 1 },
}
for i, r in ipairs(rheologies) do
    local name = r.name
    r.name = nil
    liquid { name = name, shape = rabbit{height = height}:move(0.8*i - 0.4, 0.26, 0.4), rheology = r }
end

look    { sky = "studio", opaque = true, liquid_color = {0.12, 0.38, 0.45},
          ground_color = {0.5, 0.48, 0.45}, edges = false }
camera  { eye = {1.6, 1.15, 4.6}, target = {1.6, 0.11, 0.4}, fov = 24 }
