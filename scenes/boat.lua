-- A wooden boat with seven boxes in it rides the waves that a board makes (after Monolith, figure 15).
--
-- The waves carry the boat and the boat the boxes: pressure, contact and friction decide together how they roll, so the
-- boxes stay aboard and neither sink into the planks nor jump. Compare with --set solver.scheme=P-C or C-P.
-- About 2 minutes on 2 cores; the paper's grid: --set domain.cells=240.
param   { amplitude = 0.09, period = 1.1 } -- of the board, m and s

domain  { size = {2.5, 1, 1}, cells = 64, friction = 0.1 }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 3 }
local level = 0.36

-- A hull, pointed fore and aft: the lens where two large balls meet, cut flat below and above; planks 2 cells thick.
local function lens(radius, bottom)
    local sides = intersect(sphere{radius = radius}:move(0, 0, -0.46), sphere{radius = radius}:move(0, 0, 0.46))
    return intersect(sides, box{size = {2, 0.6, 1}}:move(0, bottom + 0.3, 0))
end
local planks, bottom = 0.08, -0.21
local hull = intersect(lens(0.69, bottom), box{size = {2, 0.8, 1}}:move(0, -0.4, 0))
local at = {1.35, level + 0.115, 0.5}
rigid   { name = "boat", density = 450, friction = 0.1, color = {0.45, 0.26, 0.12}, material = "coat",
          shape = difference(hull, lens(0.69 - planks, bottom + planks)):move(at[1], at[2], at[3]) }

-- Six on the bottom, two by two, and one on top of them.
local colors = {{0.72, 0.50, 0.25}, {0.62, 0.38, 0.18}, {0.80, 0.62, 0.38}}
local edge, floor, n = 0.1, at[2] + bottom + planks, 0
local function put(x, y, z, turn)
    n = n + 1
    rigid { name = "box" .. n, density = 400, friction = 0.1, color = colors[1 + n % 3],
            shape = box{size = {edge, edge, edge}}:rotate{axis = {0, 1, 0}, degrees = turn}:move(at[1] + x, floor + y, at[3] + z) }
end
for i = -1, 1 do
    for side = -1, 1, 2 do put(0.12*i, 0.055, 0.056*side, 0) end
end
put(0.02, 0.16, 0.004, 30)

liquid  { name = "sea", shape = difference(box{size = {6, 2*level, 3}}, hull:move(at[1], at[2], at[3])) }
moving  { name = "board", shape = box{size = {0.075, 1.6, 1.6}}, color = {0.5, 0.5, 0.52}, material = "glass",
          motion = function(t)
              local start = t < 1 and t or 1 -- swings up within a second
              return { position = {0.25 + start*amplitude*math.sin(2*math.pi*t/period), 0.5, 0.5} }
          end }
camera  { eye = {1.9, 1.25, 3.0}, target = {1.3, 0.38, 0.5}, fov = 32 }
look    { edges = false, liquid_color = {0.05, 0.35, 0.5} }
