-- A soft rabbit is dropped on the ground, bounces and settles (after ElastoMonolith, figures 5 and 6). No liquid.
--
-- Contact and friction are found together with the elastic forces. Where much of the body meets the ground at once, Newton's method
-- takes its steps: `rounds` in stats.jsonl tells how many. --set param.young=2000 lets it sag, --set domain.friction=0 slide.
-- A minute on one core; the paper's 5.0k vertices: --set param.element=0.0225.
param   { height = 0.6, young = 1e4, element = 0.031, level = 0.72 } -- m, Pa, m, of its centre, m

domain  { size = {1.2, 1.2, 1.2}, cells = 48, friction = 0.5 }
time    { fps = 50, seconds = 2 }

elastic { name = "rabbit", shape = rabbit{height = height}:rotate{axis = {0, 0, 1}, degrees = -20}:move(0.6, level, 0.6),
          element = element, density = 500, young = young, poisson = 0.49, friction = 0.5,
          color = {0.62, 0.36, 0.2}, material = "coat" }

camera  { eye = {1.5, 0.85, 2.6}, target = {0.6, 0.36, 0.6}, fov = 24 }
look    { sky = "studio", edges = false }
