// Dynamic calls, closures, builders and collections. It prints the same in every run.
class Account {
    String owner; BigDecimal balance = 0; List history = []
    def deposit(amount) { balance += amount; history << [kind: 'in', amount: amount]; this }
    def withdraw(amount) { if (amount > balance) throw new IllegalStateException("$owner is broke"); balance -= amount; this }
    def propertyMissing(String name) { name.size() }
    def methodMissing(String name, args) { "$name/${args.size()}" }
}

def books(int rounds) {
    def accounts = (0..<50).collect { new Account(owner: "owner$it") }
    int broke = 0
    rounds.times { r ->
        accounts.eachWithIndex { a, i ->
            try { a.deposit(r % 7 * 1.5).withdraw(i % 11) } catch (IllegalStateException e) { broke++ }
        }
    }
    println "$broke broke, ${accounts*.balance.sum()} left"
}

def words(int rounds) {
    def text = (1..400).collect { "word${it % 37} of line ${it}" }.join('\n')
    def count = [:].withDefault { 0 }
    rounds.times {
        text.eachLine { line -> line.split(' ').findAll { it =~ /word\d/ }.each { count[it]++ } }
    }
    println count.sort { a, b -> b.value <=> a.value ?: a.key <=> b.key }.take(5)
}

def missing(int rounds) {
    def a = new Account(owner: 'nobody'), sum = 0
    rounds.times { sum += a.whatever(it, it).size() + a.something }
    println sum
}

def grids(int rounds) {
    def total = 0
    rounds.times { r ->
        def grid = (0..<20).collect { y -> (0..<20).collect { x -> (x * y + r) % 5 } }
        total += grid.transpose().collect { row -> row.inject(0) { acc, v -> acc * 3 + v & 0xffff } }.sum()
        total += grid.flatten().groupBy { it }.collectEntries { k, v -> [k, v.size()] }.values().max()
    }
    println total
}

books(900); words(90); missing(60000); grids(700)
