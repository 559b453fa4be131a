-- An elastic beam, held at its left end, falls under its own weight and swings (after ElastoMonolith, figures 3 and 4). No
-- liquid: the simplest scene with an elastic body.
--
-- Implicit steps damp the swing: shorter ones (--set time.max_step=0.005) less. Each makes two steps of Newton's method, more
-- where these do not do; what they lack is `elastic.newton` in stats.jsonl. Stiffer: --set param.young=1e6. A beam that shall
-- come to rest soon: --set elastic.drag=2, or --set elastic.viscosity=50. A minute on one core.
-- `monolith render out/elastic_beam --color stress` shows where it is strained.
param   { young = 1e4, layers = 7 } -- Pa; of elements across the beam: 7 give the paper's 2.3k vertices

domain  { size = {1.6, 1.6, 0.5}, cells = 64 }
time    { fps = 50, seconds = 3 }

local length, width, left, height = 0.8, 0.16, 0.6, 1.4
elastic { name = "beam", shape = box{size = {length, width, width}}:move(left + length/2, height, 0.25),
          element = width/layers, density = 500, young = young, poisson = 0.49,
          pins = {{ where = plane{normal = {1, 0, 0}, offset = left + 1e-6} }}, color = {0.75, 0.25, 0.12}, material = "coat" }
fixed   { name = "clamp", shape = box{size = {0.06, 0.24, 0.24}}:move(left - 0.032, height, 0.25), color = {0.25, 0.27, 0.3} }

camera  { eye = {2.2, 1.3, 3.4}, target = {0.78, 0.82, 0.25}, fov = 27 }
look    { sky = "studio", edges = false }
