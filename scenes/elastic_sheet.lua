-- A rabbit of water falls on an elastic sheet that is held at its rim, and rigid rabbits come after it (after ElastoMonolith,
-- figure 1). With honey: --set param.viscosity=100.
--
-- Liquid, elastic sheet and rigid bodies push on each other in one solve. Some minutes on one core; the paper's grid, sheet
-- and liquid: --set domain.cells=144 --set param.element=0.028 --set param.height=0.515.
param   { viscosity = 0, young = 1e4, element = 0.04, height = 0.4, rabbits = 3 } -- Pa s, Pa, m, of the rabbit of water, m

domain  { size = {1, 1.8, 1}, cells = 72, friction = 0.5 }
time    { fps = 50, seconds = 2 }
liquid  { name = "water", shape = rabbit{height = height}:move(0.5, 0.68 + (height - 0.4)/2, 0.5), viscosity = viscosity }

local edge, thickness, level = 0.84, 0.08, 0.4
local function rim(x, y, z) return math.max(math.abs(x - 0.5), math.abs(z - 0.5)) > edge/2 - 1e-6 end
elastic { name = "sheet", shape = box{size = {edge, thickness, edge}}:move(0.5, level, 0.5), element = element, density = 200,
          young = young, poisson = 0.49, friction = 0.5, pins = {{ where = rim }}, color = {0.25, 0.45, 0.3}, material = "coat" }
for i = 1, rabbits do
    local angle = 2.4*i
    rigid { name = "rabbit" .. i, shape = rabbit{height = 0.24}:rotate{axis = {0, 1, 0}, degrees = 80*i}
                :move(0.5 + 0.14*math.cos(angle), 0.84 + 0.27*i, 0.5 + 0.14*math.sin(angle)),
            density = 200, friction = 0.5, velocity = {0, -1, 0}, color = {0.75, 0.6, 0.4} }
end

camera  { eye = {1.55, 1.25, 2.6}, target = {0.5, 0.42, 0.5}, fov = 25 }
look    { edges = false }
