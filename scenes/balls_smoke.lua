-- Balls in smoke: heavy ones fall through a cloud and stir it, a balloon rises out of it.
-- monolith run scenes/balls_smoke.lua; finer: --set domain.cells=128
domain  { size = {1, 1.5, 1}, cells = 72 }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 2, cfl = 2 }
air     {}
smoke   { name = "cloud", shape = box{size = {0.7, 0.35, 0.7}}:move(0.5, 0.45, 0.5), density = 3e-3 }
for i = 0, 3 do
  local angle = i * math.pi / 2
  rigid { name = "ball" .. i + 1, shape = sphere{radius = 0.07}:move(0.5 + 0.2 * math.cos(angle), 0.85 + 0.12 * i, 0.5 + 0.2 * math.sin(angle)),
          density = 60, restitution = 0.5, color = {0.8, 0.35, 0.15} }
end
rigid   { name = "balloon", shape = sphere{radius = 0.11}:move(0.5, 0.3, 0.5), density = 0.3, color = {0.25, 0.4, 0.75} }
camera  { eye = {0.5, 0.9, 4.2}, target = {0.5, 0.7, 0.5}, fov = 26 }
