// Very many short calls before and after a pause, for a time and not for a number of rounds: the same on any machine.
def busy(long millis) {
    long until = System.nanoTime() + millis * 1000000
    int rounds = 0
    while (System.nanoTime() < until) {
        def grid = (0..<20).collect { y -> (0..<20).collect { x -> (x * y) % 5 } }
        grid.flatten().groupBy { it }.collectEntries { k, v -> [k, v.size()] }
        grid.transpose().collect { row -> row.inject(0) { acc, v -> acc * 3 + v & 0xffff } }
        rounds++
    }
    rounds
}

assert busy(1000) > 0
plant.Pause.take('tired')
assert busy(1000) > 0
println 'done'
