(: Joins, grouping, functions and strings. It returns the same in every run. :)
declare function local:collatz($n as xs:integer, $steps as xs:integer) as xs:integer {
  if ($n eq 1) then $steps else local:collatz(if ($n mod 2 eq 0) then $n idiv 2 else 3 * $n + 1, $steps + 1)
};
<report>
  <longest>{ max(for $n in 1 to 25000 return local:collatz($n, 0)) }</longest>
  {
    for $i in /list/item
    group by $g := string($i/@group)
    order by number($g)
    return <group id="{$g}" items="{count($i)}" sum="{sum($i/price)}" words="{
      sum(for $d in $i/description return count(tokenize(normalize-space($d), ' ')))}"/>
  }
  {
    for $a in /list/item[@id mod 40 eq 0], $b in /list/item[@id mod 41 eq 0]
    where contains(concat($a/name, $b/name), '77') and $a/price lt $b/price
    return <pair a="{$a/@id}" b="{$b/@id}">{ upper-case(substring($a/description, 1, 10)) }</pair>
  }
</report>
