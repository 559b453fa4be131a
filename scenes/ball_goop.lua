-- A ball rises through a block of goo and drags a stream of it into the air, because the goo sticks to it. After
-- "Ball Through Goop" of Larionov, Batty and Bridson (2017), Variational Stokes.
--
-- Compare --set moving.wall=slip: the ball slides out and takes almost nothing along.
-- Takes about a minute on 2 cores. The paper's detail: --set domain.cells=160.
param   { speed = 0.8, radius = 0.11, viscosity = 150 } -- of the ball, m/s and m; Pa s

domain  { size = {0.6, 1.4, 0.6}, cells = 45, walls = {ymin = "no-slip", ymax = "open"} }
gravity { 0, -9.81, 0 }
time    { fps = 25, seconds = 1.8 }
liquid  { name = "goo", shape = box{size = {2, 0.7, 2}}, viscosity = viscosity }

-- Rises smoothly from just above the floor.
moving  {
    name = "ball", shape = sphere{radius = radius}, color = {0.75, 0.75, 0.78}, material = "metal",
    motion = function(t)
        local ramp = 0.3
        local way = t < ramp and speed*t*t/(2*ramp) or speed*(t - ramp/2)
        return { position = {0.3, radius + 0.04 + way, 0.3} }
    end,
}

look    { sky = "studio", opaque = true, liquid_color = {0.80, 0.30, 0.03}, ground_color = {0.5, 0.48, 0.45} }
camera  { eye = {1.3, 0.95, 2.9}, target = {0.3, 0.60, 0.3}, fov = 29 }
