-- The dam break of Martin & Moyce (1952), n^2 = H/a = 2: a column of water a = 2.25 inches wide and 2a high in a long
-- tank. Measured: the front Z = x/a against T = n t sqrt(g/a), and the height h/(2a) against t sqrt(g/a).
-- The front reaches the end of the tank (Z = 5.5) after about 0.25 s.
local a = 0.05715 -- m

domain  { size = {5.5*a, 2.5*a}, cells = 176, walls = "slip" } -- 32 cells in a
gravity { 0, -9.81 }
time    { fps = 200, seconds = 0.3, cfl = 1 }
liquid  { name = "column", shape = box{size = {2*a, 4*a}} } -- its upper right quarter lies in the domain
