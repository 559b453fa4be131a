-- A rabbit that thins when sheared falls on the floor: it runs apart at the impact, and stiffens again when it slows
-- down. After fig. 9 of Takahashi and Batty (2020), Monolith, which shows how many rounds of viscosity a step needs:
--
--     --set solver.rounds=1 (the viscosity lags behind the flow), 2 (as here), 5, 20
--
-- Compare --set liquid.rheology.flow_index=1, a liquid that does not thin. Takes a
-- quarter of a minute on 2 cores; the paper's detail: --set domain.cells=128.
param   { height = 0.45 } -- of the rabbit, m

domain  { size = {1.2, 0.9, 1.2}, cells = 80, walls = {ymin = "no-slip", ymax = "open"} }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 1 }
solver  { rounds = 2 }
liquid  {
    name = "rabbit", shape = rabbit{height = height}:move(0.6, 0.36, 0.6),
    rheology = { consistency = 200, flow_index = 0.5, yield_stress = 1, threshold = 0.1 },
}

look    { sky = "studio", opaque = true, liquid_color = {0.55, 0.20, 0.28},
          ground_color = {0.5, 0.48, 0.45}, edges = false }
camera  { eye = {1.5, 0.9, 2.4}, target = {0.6, 0.24, 0.6}, fov = 25 }
