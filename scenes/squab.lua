-- A creature with limbs, without gravity: surface tension pulls the limbs in until a ball is left. After fig. 5 of
-- Larionov, Batty and Bridson (2017), Variational Stokes.
--
-- Takes about 2 minutes on 2 cores. The paper's detail: --set domain.cells=128.
-- Thinner (--set param.viscosity=3) it overshoots and rings.
param   { tension = 20, viscosity = 20 } -- N/m, Pa s

domain  { size = {1, 1, 1}, cells = 60, walls = "open" }
gravity { 0, 0, 0 }
time    { fps = 50, seconds = 3 }

-- A fat body, a neck with a head and beak, wings, legs with feet.
local function limb(radius, height, axis, degrees, x, y, z)
    return capsule{radius = radius, height = height}:rotate{axis = axis, degrees = degrees}:move(x, y, z)
end
local squab = smooth_union(sphere{radius = 0.15}, limb(0.05, 0.30, {0, 0, 1}, -20, 0.08, 0.19, 0), 0.04)
squab = smooth_union(squab, sphere{radius = 0.075}:move(0.13, 0.30, 0), 0.03)
squab = smooth_union(squab, limb(0.03, 0.16, {0, 0, 1}, 90, 0.23, 0.29, 0), 0.01)
for side = -1, 1, 2 do
    squab = smooth_union(squab, limb(0.045, 0.36, {1, 0, 0}, side*70, -0.03, 0.07, side*0.24), 0.03)
    squab = smooth_union(squab, limb(0.04, 0.26, {0, 0, 1}, 0, 0, -0.22, side*0.08), 0.02)
    squab = smooth_union(squab, limb(0.035, 0.16, {0, 0, 1}, 90, 0.05, -0.34, side*0.08), 0.01)
end
squab = smooth_union(squab, limb(0.035, 0.24, {0, 0, 1}, 60, -0.20, 0.04, 0), 0.02)

liquid  { name = "squab", shape = squab:move(0.48, 0.5, 0.5), viscosity = viscosity, surface_tension = tension }

look    { sky = "studio", ground = false, opaque = true, liquid_color = {0.55, 0.08, 0.12}, edges = false }
camera  { eye = {1.7, 0.85, 2.2}, target = {0.5, 0.48, 0.5}, fov = 22 }
