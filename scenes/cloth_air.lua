-- Two sheets of cloth glide down through smoke: a stiff one, which keeps its shape, and a soft one, which folds.
--
-- Air and cloth are one solve; the smoke shows the eddies behind the sheets. After figure 11 of Robinson-Mosher, English and Fedkiw,
-- "Accurate tangential velocities for solid fluid coupling" (2009). Finer: --set domain.cells=72 --set param.edge=0.03. Two minutes on one core.
param   { stiff = 1e-2, soft = 2e-6, edge = 0.07, tilt = 12 } -- N m, of bending; m, of triangles; degrees

domain  { size = {1.8, 1.2, 0.9}, cells = 27 }
time    { fps = 50, seconds = 1, cfl = 1 }
air     {}
smoke   { name = "cloud", shape = box{size = {1.7, 0.35, 0.8}}:move(0.9, 0.55, 0.45), density = 5e-4 }
local function sheet(x)
    return plate{size = {0.45, 0.35}, edge = edge}:rotate{axis = {0, 0, 1}, degrees = tilt}:move(x, 0.95, 0.45)
end
cloth   { name = "stiff", sheet = sheet(0.47), density = 0.15, bend = stiff, damping = 2e-3, color = {0.75, 0.3, 0.2} }
cloth   { name = "soft", sheet = sheet(1.33), density = 0.15, bend = soft, damping = 2e-3, color = {0.2, 0.35, 0.7} }
camera  { eye = {0.9, 0.85, 4.2}, target = {0.9, 0.55, 0.45}, fov = 28 }
