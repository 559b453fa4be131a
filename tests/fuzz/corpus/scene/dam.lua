domain { size = {1, 1}, cells = 8, walls = { ymax = "open" } }
time { fps = 50, seconds = 0.1 }
liquid { shape = box{size = {0.4, 0.6}}:move(0.2, 0.3), viscosity = function(x, y) return 1 + x end }
rigid { name = "ball", shape = sphere{radius = 0.1}:move(0.7, 0.7), density = 500 }
moving { shape = box{size = {0.1, 0.1}}, motion = function(t) return { position = {0.5, 0.2 + t} } end }
