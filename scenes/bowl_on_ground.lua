-- A rabbit of water falls into a light bowl that stands on the ground (after Monolith, figure 2).
--
-- The water presses the bowl on the ground, and the ground carries both: pressure and contact forces are found in one
-- solve, so no water is squeezed away and the bowl neither sinks nor bobs. With --set solver.scheme=P-C the contact stops
-- the bowl that the pressure has just pushed down, and the water runs into its bottom: add --set volume.correct=false
-- (or steps of 0.02 s) to see it vanish, else the position correction makes up for it. With C-P the pressure pushes the
-- bowl 2 cells into the ground, where it bobs. PC-iterative gives the right answer, slowly.
-- About a minute on 2 cores; the paper's grid: --set domain.cells=256.
param   { height = 0.64, density = 200 } -- of the rabbit, m; of the bowl, kg/m3

domain  { size = {2, 1, 2}, cells = 96, friction = 0 }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 2, max_step = 0.01 }
liquid  { name = "rabbit", shape = rabbit{height = height}:move(1, 0.66, 1) }

-- Half a shell, 3 cells thick, on a foot with a flat sole; the ball cut out leaves its inside round.
local radius, thickness = 0.36, 0.06
local outside = union(bowl{radius = radius, thickness = thickness}, cylinder{radius = 0.16, height = 0.1}:move(0, -0.33, 0))
rigid   { name = "bowl", density = density, friction = 0,
          shape = difference(outside, sphere{radius = radius - thickness}):move(1, 0.38, 1),
          color = {0.75, 0.72, 0.65}, material = "coat" }
camera  { eye = {1, 1.35, 3.1}, target = {1, 0.3, 1}, fov = 26 }
look    { edges = false }
