-- A layer of caramel from a slit folds on a wafer that moves along under it (Variational Stokes, figure 11). It cools as
-- it is carried away: its viscosity rises tenfold every `cooling` metres.
--
-- The layer is 6 cells thick. Finer:  --set domain.cells=350
-- About 7 minutes on one core.
param   { speed = 0.12, wafer_speed = 0.06, cooling = 0.08 } -- m/s, m/s, m

local slit = {x = 0.13, y = 0.044, thickness = 0.006, width = 0.014}
local wafer = {length = 0.11, height = 0.010, width = 0.020}
local middle = 0.02

domain  { size = {0.175, 0.065, 0.04}, cells = 175, walls = "open" }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 1.3, cfl = 3 }
solver  { tolerance = 1e-4 }
moving  {
    name = "wafer", shape = box{size = {wafer.length, wafer.height, wafer.width}}, color = {0.8, 0.6, 0.35},
    motion = function(t)
        return { position = {slit.x + wafer.length/2 - 0.008 - wafer_speed*t, wafer.height/2, middle} }
    end,
}
emitter {
    name = "caramel", velocity = {0, -speed, 0},
    shape = box{size = {slit.thickness, 0.008, slit.width}}:move(slit.x, slit.y + 0.004, middle),
    viscosity = function(x, y, z, t) return 50*10^(math.min(math.max(slit.x - x, 0), wafer_speed*t)/cooling) end,
}
-- A cap over the emitter that the caramel does not touch.
fixed   {
    name = "slit", color = {0.8, 0.8, 0.82}, material = "metal",
    shape = difference(
        box{size = {slit.thickness + 0.006, 0.014, slit.width + 0.006}}:move(slit.x, slit.y + 0.007, middle),
        box{size = {slit.thickness + 0.004, 0.014, slit.width + 0.004}}:move(slit.x, slit.y + 0.004, middle)),
}
look    { sky = "studio", liquid_color = {1e-9, 1e-44, 1e-130}, ground_color = {0.6, 0.58, 0.55}, edges = false }
camera  { eye = {0.06, 0.085, 0.2}, target = {0.088, 0.024, 0.02}, fov = 26 }
