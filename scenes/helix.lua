-- Hot smoke rises in a glass tube and follows a spiral ramp; tube and ramp have no thickness.
-- monolith run scenes/helix.lua; finer: --set domain.cells=60
param   { radius = 0.3, pitch = 0.7, turns = 3 } -- m, of the tube; m that the ramp rises per turn; 0 turns: no ramp

domain  { size = {1, 3, 1}, cells = 90, walls = "open" }
gravity { 0, -9.81, 0 }
time    { fps = 50, seconds = 3, cfl = 1 }
air     {}
smoke   { name = "vent", shape = cylinder{radius = 0.6*radius, height = 0.1}:move(0.5, 0.3, 0.5), density = 0.015, temperature = 450,
          seconds = 100 }
shell   { name = "tube", sheet = tube{radius = radius, height = 2.2}:move(0.5, 1.3, 0.5), material = "glass" }
if turns > 0 then
    shell { name = "ramp", sheet = helix{radius = 0.93*radius, pitch = pitch, turns = turns, width = 0.7*radius}:move(0.5, 0.45, 0.5),
            color = {0.75, 0.3, 0.2} }
end
camera  { eye = {0.5, 1.7, 6.2}, target = {0.5, 1.4, 0.5}, fov = 30 }
