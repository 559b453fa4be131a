-- A rabbit and a little man, both of a very viscous liquid, collide off-centre without gravity, stick together and turn
-- as one. After fig. 9 of Larionov, Batty and Bridson (2017), Variational Stokes.
--
-- Compare --set solver.scheme=P-V-P, and validate/colliding_characters.c, which measures angular momentum with both.
-- Takes about a minute on 2 cores. The paper's detail: --set domain.cells=160. Steps are short because particles keep
-- their velocity while they go round: angular momentum loses (angular velocity x step)^2/2 in each, whatever the scheme.
param   { speed = 0.4, offset = 0.32, viscosity = 2000 } -- of either, m/s; between their paths, m; Pa s

domain  { size = {1.8, 1.6, 1.2}, cells = 54, walls = "open" }
gravity { 0, 0, 0 }
time    { fps = 25, seconds = 6, max_step = 0.01 }

-- A figure about the origin, 0.7 m high: trunk, head with two ears, arms and legs, a tail.
local function limb(radius, height, axis, degrees, x, y, z)
    return capsule{radius = radius, height = height}:rotate{axis = axis, degrees = degrees}:move(x, y, z)
end
local man = smooth_union(capsule{radius = 0.12, height = 0.34}, sphere{radius = 0.10}:move(0, 0.22, 0.02), 0.04)
for side = -1, 1, 2 do
    man = smooth_union(man, limb(0.06, 0.34, {0, 0, 1}, side*55, -side*0.19, 0.12, 0), 0.02)
    man = smooth_union(man, limb(0.07, 0.34, {0, 0, 1}, side*15, side*0.10, -0.23, 0), 0.02)
    man = smooth_union(man, limb(0.045, 0.18, {0, 0, 1}, -side*25, side*0.07, 0.31, 0), 0.02)
end
man = smooth_union(man, limb(0.05, 0.28, {1, 0, 0}, -60, 0, -0.10, -0.17), 0.02)

liquid  {
    name = "rabbit",
    shape = rabbit{height = 0.62}:rotate{axis = {0, 1, 0}, degrees = -30}:move(0.45, 0.8 + offset/2, 0.6),
    velocity = {speed, 0, 0}, viscosity = viscosity,
}
liquid  {
    name = "man", shape = man:rotate{axis = {0, 1, 0}, degrees = -20}:move(1.33, 0.8 - offset/2, 0.6),
    velocity = {-speed, 0, 0}, viscosity = viscosity,
}

look    { sky = "studio", ground = false, opaque = true, liquid_color = {0.10, 0.33, 0.62}, edges = false }
camera  { eye = {0.9, 1.0, 4.4}, target = {0.9, 0.8, 0.6}, fov = 22 }
