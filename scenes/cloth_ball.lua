-- A tablecloth of cotton falls on a ball and drapes itself round it. No liquid: the simplest scene with cloth.
--
-- Finer folds: --set param.edge=0.02 (m, of the cloth's triangles; the work grows with its fourth power). Silk: --set cloth.bend=1e-6,
-- felt: 1e-4. What the steps met is `cloth` in stats.jsonl. Two minutes on one core.
param   { edge = 0.03 }

domain  { size = {1, 1, 1}, cells = 32 }
time    { fps = 50, seconds = 1.2 }

fixed   { name = "ball", shape = sphere{radius = 0.2}:move(0.5, 0.25, 0.5), color = {0.75, 0.3, 0.2}, material = "coat" }
cloth   { name = "tablecloth", sheet = plate{size = {0.7, 0.7}, edge = edge}:rotate{axis = {0, 1, 0}, degrees = 20}:move(0.52, 0.55, 0.5),
          density = 0.2, stretch = 2000, bend = 1e-5, damping = 2e-3, color = {0.25, 0.4, 0.75} }

camera  { eye = {1.5, 1.1, 2.1}, target = {0.5, 0.25, 0.5}, fov = 32 }
look    { sky = "studio", edges = false }
