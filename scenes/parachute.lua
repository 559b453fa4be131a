-- A parachute: a canopy of cloth, a hemisphere of 0.5 m radius, carries a load of 1 kg on eight cords.
--
-- Air, cloth, cords and the load are one solve. The scene moves down with the parachute: the air comes from below with `speed`. A
-- parachute with the coefficient of drag C of its open area sinks at sqrt(2 m g/(rho C pi r^2)), 4.1 m/s for C = 1.35; `force` of the
-- canopy in bodies.jsonl tells C, best with --set param.tied=1. Finer: --set domain.cells=60 --set param.edge=0.1. A minute on one core.
param   { radius = 0.5, load = 1, speed = 4, edge = 0.2, tied = 0 } -- m; kg; m/s; m, of triangles; 1: the load is tied to its place

domain  { size = {2.4, 3, 2.4}, cells = 30, walls = "open" }
time    { fps = 50, seconds = 1, cfl = 2 }
air     { wind = {0, speed, 0}, margin = 4 }
local rim, hang = 1.6, 1.1 -- m: height of the canopy's rim, and how far below it the load hangs
local cords = {}
for k = 1, 8 do
    local a = (k - 0.5)*math.pi/4
    cords[k] = { from = {1.2 + radius*math.cos(a), rim, 1.2 + radius*math.sin(a)}, to = {1.2, rim - hang + 0.06, 1.2}, solid = "load",
                 stretch = 2000 }
end
cloth   { name = "canopy", sheet = hemisphere{radius = radius, edge = edge}:rotate{axis = {1, 0, 0}, degrees = 180}:move(1.2, rim, 1.2),
          density = 0.06, stretch = 3000, bend = 1e-5, damping = 5e-3, cords = cords, color = {0.85, 0.4, 0.15} }
local ball = sphere{radius = 0.06}:move(1.2, rim - hang, 1.2)
if tied == 1 then fixed { name = "load", shape = ball, color = {0.2, 0.2, 0.25} }
else rigid { name = "load", shape = ball, density = load/(4/3*math.pi*0.06^3), color = {0.2, 0.2, 0.25} } end
camera  { eye = {1.2, 1.9, 6.4}, target = {1.2, 1.25, 1.2}, fov = 24 }
look    { sky = "studio", edges = false }
