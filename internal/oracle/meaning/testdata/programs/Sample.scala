// Compiled by the Scala compiler in programs_test.go, never run.
package sample

import scala.collection.mutable
import scala.util.{Failure, Success, Try}

sealed trait Expr
case class Num(value: Double) extends Expr
case class Bin(op: Char, left: Expr, right: Expr) extends Expr
case object Unknown extends Expr

trait Show[-A] { def show(a: A): String }
object Show {
  implicit val int: Show[Int] = (a: Int) => s"<$a>"
  implicit def list[A](implicit s: Show[A]): Show[List[A]] = (l: List[A]) => l.map(s.show).mkString("[", ",", "]")
  implicit class Ops[A](private val a: A) extends AnyVal { def shown(implicit s: Show[A]): String = s.show(a) }
}

abstract class Machine { lazy val table: Map[String, Int] = build(); protected def build(): Map[String, Int] }
trait Logging { self: Machine => val lines: mutable.Buffer[String] = mutable.Buffer.empty; def log(s: => String): Unit = lines += s }
class Counter(private var n: Int = 0) extends Machine with Logging with Ordered[Counter] {
  override protected def build(): Map[String, Int] = Map("start" -> n)
  def +=(k: Int): this.type = { n += k; log(s"plus $k"); this }
  override def compare(that: Counter): Int = n compare that.n
}

object Main {
  import Show._
  def eval(e: Expr): Option[Double] = e match {
    case Num(v) => Some(v)
    case Bin('/', _, Num(0)) => None
    case Bin(op, l, r) => for (a <- eval(l); b <- eval(r)) yield op match { case '+' => a + b; case '*' => a * b; case '/' => a / b; case _ => Double.NaN }
    case Unknown => None
  }
  @annotation.tailrec def loop(n: Int, acc: List[Int]): List[Int] = if (n == 0) acc else loop(n - 1, n :: acc)
  def find(xs: Seq[Int]): Int = { xs.foreach { x => if (x > 3) return x }; -1 }
  def parse(s: String): Either[String, Int] = Try(s.toInt) match { case Success(n) => Right(n); case Failure(_: NumberFormatException) => Left(s"not a number: $s"); case Failure(e) => throw e }

  def main(args: Array[String]): Unit = {
    println(eval(Bin('+', Num(1), Bin('*', Num(2), Num(3)))))
    println(List(1, 2, 3).shown)
    val words = "the quick brown fox" split ' '
    println((for { w <- words; c <- w if c > 'm' } yield c).groupBy(identity).map { case (k, v) => k -> v.length }.toSeq.sorted)
    val c = new Counter(2); c += 3 += 4
    println(c.lines, find(loop(5, Nil)), List("1", "x").map(parse))
    var i = 0
    while (i < 3) { try { if (i == 1) sys.error("one") } catch { case e: RuntimeException => println(e.getMessage) } finally i += 1 }
  }
}
