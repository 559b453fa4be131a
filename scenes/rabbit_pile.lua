-- Nine rabbits of a viscous liquid, turned every way, fall on a heap and slowly run into each other: ears and edges must
-- survive long after they touched. After fig. 3 of Larionov, Batty and Bridson (2017), Variational Stokes.
--
-- Compare --set solver.scheme=P-V-P: with pressure and viscosity in turn, gaps close and edges smooth sooner.
-- Takes about 3 minutes on 2 cores. The paper's detail: --set domain.cells=192.
param   { height = 0.40, viscosity = 2500 } -- of a rabbit, m; Pa s

domain  { size = {1.2, 1.5, 1.2}, cells = 60, walls = {ymin = "no-slip", ymax = "open"} }
gravity { 0, -9.81, 0 }
time    { fps = 25, seconds = 1.6 }

-- Three layers of three round the middle axis, each layer turned against the one below; axis and angle of each rabbit.
local turns = {
    {{0, 1, 0}, 20}, {{1, 0, 0}, 95}, {{0, 0, 1}, 130},
    {{1, 1, 0}, 200}, {{0, 1, 1}, 75}, {{1, 0, 1}, 160},
    {{1, 0, 0}, 250}, {{1, 2, 0}, 40}, {{0, 0, 1}, 300},
}
for i = 1, 9 do
    local layer, angle = (i - 1)//3, math.rad(120*i + 50*((i - 1)//3))
    liquid {
        name = "rabbit" .. i, viscosity = viscosity,
        shape = rabbit{height = height}:rotate{axis = turns[i][1], degrees = turns[i][2]}
            :move(0.6 + 0.17*math.cos(angle), 0.26 + 0.44*layer, 0.6 + 0.17*math.sin(angle)),
    }
end

look    { sky = "studio", opaque = true, liquid_color = {0.10, 0.33, 0.62},
          ground_color = {0.50, 0.48, 0.45}, edges = false }
camera  { eye = {1.9, 1.2, 2.6}, target = {0.6, 0.36, 0.6}, fov = 28 }
