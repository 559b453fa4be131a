-- A rabbit of honey falls on an elastic beam that is held at both ends, and bends it down to the ground (after ElastoMonolith,
-- figures 11 and 12). When the honey has flowed off, the beam comes up again.
--
-- Viscosity, pressure, elasticity and contact are one solve. Some minutes on one core; the paper's grid, beam
-- and liquid: --set domain.cells=64 --set param.element=0.0205 --set param.height=0.63.
param   { height = 0.5, viscosity = 100, young = 1e4, element = 0.04 } -- of the rabbit, m; Pa s; Pa; m

domain  { size = {1, 1, 1}, cells = 40, friction = 0.5 }
time    { fps = 50, seconds = 2 }
liquid  { name = "rabbit", shape = rabbit{height = height}:move(0.5, 0.68, 0.5), viscosity = viscosity }

local length, width, level = 0.9, 0.16, 0.3
elastic { name = "beam", shape = box{size = {length, 0.1, width}}:move(0.5, level, 0.5), element = element, density = 200,
          young = young, poisson = 0.49, friction = 0.5, color = {0.2, 0.35, 0.55}, material = "coat",
          pins = {{ where = plane{normal = {1, 0, 0}, offset = 0.05 + 1e-6} }, { where = plane{normal = {-1, 0, 0}, offset = 1e-6 - 0.95} }} }
for i, x in ipairs{0.022, 0.978} do
    fixed { name = "post" .. i, shape = box{size = {0.05, level + 0.08, 0.22}}:move(x, (level + 0.08)/2, 0.5), color = {0.3, 0.31, 0.33} }
end

camera  { eye = {1.35, 1.0, 2.8}, target = {0.5, 0.36, 0.5}, fov = 25 }
look    { sky = "studio", liquid_color = {0.5, 0.003, 1e-8}, edges = false }
