-- 45 rabbits are dropped onto a pool: light ones float, heavy ones sink and pile up (after Monolith, figure 16).
--
-- Hundreds of contacts in and under water, in one solve with the pressure; no rabbit sinks into another.
-- About 5 minutes on 2 cores; the paper's grid: --set domain.cells=225.
param   { height = 0.18, light = 400, heavy = 2000 } -- of a rabbit, m; densities, kg/m3

domain  { size = {1.5, 1, 1}, cells = 48, friction = 0.1, walls = {ymax = "open"} }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 2.5, max_step = 0.01 }
liquid  { name = "pool", shape = box{size = {4, 0.5, 3}} }

-- Three layers of five by three, every one turned another way; a third of them heavy.
local n = 0
for layer = 0, 2 do
    for i = -2, 2 do
        for k = -1, 1 do
            n = n + 1
            local heavy_one = n % 3 == layer
            rigid { name = "rabbit" .. n, density = heavy_one and heavy or light, friction = 0.1, material = "coat",
                    color = heavy_one and {0.30, 0.31, 0.34} or n % 2 == 0 and {0.75, 0.42, 0.18} or {0.78, 0.74, 0.66},
                    shape = rabbit{height = height}:rotate{axis = {(7*n) % 5 - 2, 1, (3*n) % 7 - 3}, degrees = 47*n}
                        :move(0.75 + 0.26*i + 0.04*layer - 0.04, 0.38 + 0.22*layer, 0.5 + 0.27*k - 0.04*layer + 0.04) }
        end
    end
end
camera  { eye = {2.3, 1.35, 2.6}, target = {0.75, 0.32, 0.5}, fov = 28 }
look    { edges = false }
