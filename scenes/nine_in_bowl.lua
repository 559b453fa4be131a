-- Nine rabbits fall into a bowl that floats on syrup. After figure 7 of Takahashi and Batty (2020), Monolith.
--
-- Compare --set solver.scheme=PV-C or C-PV: the contacts between the bodies are spoilt by the liquid, or the liquid by them.
-- Takes about 5 minutes on 2 cores. The paper's detail: --set domain.cells=64.
param   { viscosity = 100, bowl_density = 500, density = 2000 } -- Pa s; kg/m^3, the latter of the rabbits

domain  { size = {1, 1, 1}, cells = 32, walls = {ymax = "open"} }
time    { fps = 50, seconds = 2 }
liquid  { name = "syrup", shape = difference(box{size = {4, 0.7, 4}}, sphere{radius = 0.3}:move(0.5, 0.54, 0.5)),
          viscosity = viscosity }
rigid   { name = "bowl", shape = bowl{radius = 0.34, thickness = 0.07}:move(0.5, 0.54, 0.5), density = bowl_density, friction = 0,
          color = {0.75, 0.72, 0.65}, material = "coat" }
local colors = {{0.7, 0.25, 0.1}, {0.15, 0.35, 0.6}, {0.75, 0.6, 0.1}}
for i = 1, 9 do
    local angle, layer = 120*((i - 1)%3) + 60*((i - 1)//3), (i - 1)//3
    local x, z = 0.5 + 0.11*math.cos(math.rad(angle)), 0.5 + 0.11*math.sin(math.rad(angle))
    rigid { name = "rabbit" .. i, density = density, friction = 0, color = colors[layer + 1], material = "coat",
            shape = rabbit{height = 0.18}:rotate{axis = {0, 1, 0}, degrees = 75*i}:move(x, 0.47 + 0.19*layer, z) }
end

look    { sky = "studio", opaque = true, liquid_color = {0.5, 0.2, 0.02}, ground_color = {0.5, 0.48, 0.45} }
camera  { eye = {0.85, 1.6, 1.9}, target = {0.5, 0.4, 0.5}, fov = 30 }
