-- The first sloshing mode of a tank: the surface starts as depth + a cos(pi x/L) and swings with the frequency
-- w^2 = g k tanh(k depth), k = pi/L: a period of 1.18 s for L = 1 m and 0.5 m of water.
param   { length = 1, depth = 0.5, amplitude = 0.02 } -- m; the amplitude is small against the depth

domain  { size = {length, 2*depth}, cells = 64, walls = "slip" }
gravity { 0, -9.81 }
time    { fps = 50, seconds = 4, cfl = 1 }

-- The curve by tangents. Its left half is concave, so the water lies below all of them; its right half is convex, so
-- the water lies below any of them.
local k = math.pi/length
local function below_tangent(x)
    local y, slope = depth + amplitude*math.cos(k*x), -amplitude*k*math.sin(k*x)
    return plane{normal = {-slope, 1}, offset = (y - slope*x)/math.sqrt(1 + slope^2)}
end
local left, right = {}, {}
for i = 0, 16 do
    left[#left + 1] = below_tangent(i*length/32)
    right[#right + 1] = below_tangent(length/2 + i*length/32)
end
local right_half = plane{normal = {-1, 0}, offset = -length/2}

liquid  {
    name = "water",
    shape = union(intersect(table.unpack(left)), intersect(union(table.unpack(right)), right_half)),
}
