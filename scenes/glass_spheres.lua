-- Two hollow glass spheres with a ball of water in each are thrown into a basin and roll (after Monolith, figures 17, 18).
--
-- The water slides and splashes inside, takes energy from the spheres and gives it back: they rock and roll on for long.
-- With --set liquid.viscosity=50 the liquid sticks to the glass and is dragged along, and they soon come to rest: much
-- dearer, so add --set domain.cells=48 --set param.thickness=0.05 --set time.seconds=2 (walls need 2 cells).
-- About 4 minutes on 2 cores; the paper's grid: --set domain.cells=256, viscous 128.
param   { speed = 1.2, radius = 0.17, thickness = 0.035, fill = 0.1 } -- m/s; of the glass, m; of the ball of liquid, m

domain  { size = {1.2, 1.2, 1.2}, cells = 72, friction = 0.1 }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 4, cfl = 0.5 }
fixed   { name = "basin", friction = 0.1, color = {0.55, 0.5, 0.42},
          shape = difference(cylinder{radius = 0.58, height = 0.56}, sphere{radius = 0.85}:move(0, 0.93, 0)):move(0.6, 0, 0.6) }

-- As heavy as spheres of real glass 6 mm thick: walls need 2 cells.
local places = {{0.33, 0.78, 0.5}, {0.87, 0.86, 0.68}}
local throws = {{speed, -0.6, 0.5*speed}, {-0.8*speed, -0.4, -0.6*speed}}
for i, p in ipairs(places) do
    rigid  { name = "sphere" .. i, density = 500, friction = 0.1, velocity = throws[i], material = "glass",
             shape = hollow_sphere{radius = radius, thickness = thickness}:move(p[1], p[2], p[3]) }
    liquid { name = "ball" .. i, velocity = throws[i], shape = sphere{radius = fill}:move(p[1], p[2], p[3]) }
end
camera  { eye = {0.6, 2.1, 2.3}, target = {0.6, 0.24, 0.6}, fov = 25 }
look    { edges = false, liquid_color = {0.06, 0.35, 0.6} }
