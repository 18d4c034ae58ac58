;; Persistent collections, lazy sequences, multimethods, transducers and reading. It prints the same in every run.
(ns work (:require [clojure.string :as str] [clojure.walk :as walk] [clojure.set :as set]))

(defmulti area :kind)
(defmethod area :square [{:keys [side]}] (* side side))
(defmethod area :circle [{:keys [radius]}] (* 3 radius radius))

(defn shapes [n] (map #(if (even? %) {:kind :square :side (mod % 17)} {:kind :circle :radius (mod % 13)}) (range n)))
(defn index [n] (reduce (fn [m i] (update m (mod (* i 7919) 1000) (fnil conj []) i)) (sorted-map) (range n)))
(defn life [cells]
  (set (for [[cell n] (frequencies (for [[x y] cells dx [-1 0 1] dy [-1 0 1] :when (not= 0 dx dy)] [(+ x dx) (+ y dy)]))
             :when (or (= n 3) (and (= n 2) (cells cell)))] cell)))
(defn words [n] (->> (range n) (map #(str "w" (mod (* % %) 101))) (partition 7) (map #(str/join " " %))
                     (mapcat #(str/split % #" ")) frequencies (sort-by (juxt (comp - val) key)) (take 3)))

(println (reduce + (map area (shapes 900000))))
(println (count (index 250000)) (reduce + (map count (vals (index 250000)))))
(println (count (nth (iterate life (set (for [x (range 60) y (range 60) :when (zero? (mod (+ (* x x) (* 3 y)) 5))] [x y]))) 12)))
(println (words 250000))
(println (transduce (comp (map inc) (filter even?) (partition-all 5)) (completing (fn [a b] (+ a (count b)))) 0 (range 900000)))
(println (count (walk/postwalk #(if (number? %) (inc %) %) (vec (for [i (range 12000)] {:a i :b [i {:c (str i)}]})))))
(println (count (read-string (pr-str (vec (for [i (range 25000)] {:id i :name (str "n" i) :tags #{:x :y}}))))))
(println (count (reduce set/union (for [i (range 2500)] (set (range i (+ i 40)))))))
(shutdown-agents)
