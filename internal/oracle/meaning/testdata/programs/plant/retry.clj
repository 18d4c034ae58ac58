(println (reduce + (map inc (range 1000))) (plant.Retry/call))
