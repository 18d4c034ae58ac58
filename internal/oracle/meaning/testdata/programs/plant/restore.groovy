def names = (1..500).collect { "entry " + it }.findAll { it.contains("7") }
println names.size() + plant.Archive.restore()
