-- Water at rest in a box: nothing may move and the pressure is rho g depth. fill = 1 is a full tank without any air.
param   { fill = 0.5, three_dimensions = true } -- part of the height that is filled

domain  { size = three_dimensions and {1, 1, 1} or {1, 1}, cells = three_dimensions and 48 or 64, walls = "slip" }
gravity { 0, -9.81 }
time    { fps = 50, seconds = 1 }
liquid  { name = "water", shape = plane{normal = {0, 1, 0}, offset = fill < 1 and fill or 2} }
