param { size = 0.2 }
domain { size = {1, 1, 1}, cells = 8 }
elastic { shape = box{size = {size, size, size}}:move(0.5, 0.5, 0.5):rotate(0, 0, 1, 30), element = 0.1 }
cloth { sheet = plate{size = {0.4, 0.4}, edge = 0.1}:move(0.5, 0.8, 0.5) }
fixed { shape = difference(sphere{radius = 0.2}, box{size = {0.1, 1, 1}}):move(0.2, 0.2, 0.2) }
emitter { shape = cylinder{radius = 0.1, height = 0.1}:move(0.3, 0.8, 0.5), velocity = {0, -1, 0} }
