// release: 8
// What the compiler makes of suspend functions: a state machine that is left at every pause and entered again
// behind it. The scenarios say what that looks like from outside.
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.coroutines.startCoroutine

@JvmField var paused: Continuation<Int>? = null

fun leaf(): Int = 41

suspend fun pause(): Int = suspendCoroutineUninterceptedOrReturn { paused = it; COROUTINE_SUSPENDED }

// The last call of a suspend function needs no state machine.
suspend fun tail(): Int = pause()

// suspends normal,throws: +1.<init> -1.<init> +drive +1.<init> -1.<init> +create +1.<init> +getContext -getContext -1.<init> -create +invokeSuspend +sum +1.<init> -1.<init> +pause -pause -sum -invokeSuspend +invokeSuspend +sum +tail +pause -pause -tail -sum -invokeSuspend +invokeSuspend +sum +leaf -leaf -sum -invokeSuspend +invokeSuspend -invokeSuspend +resumeWith -resumeWith -drive
// suspends after-super,exact: +1.<init> -1.<init> +drive +1.<init> -1.<init> +create +getContext -getContext +1.<init> -1.<init> -create +invokeSuspend +sum +1.<init> -1.<init> +pause -pause -sum -invokeSuspend +invokeSuspend +sum +tail +pause -pause -tail -sum -invokeSuspend +invokeSuspend +sum +leaf -leaf -sum -invokeSuspend +invokeSuspend -invokeSuspend +resumeWith -resumeWith -drive
suspend fun sum(): Int {
    val a = pause()
    val b = tail()
    return a + b + leaf()
}

// finally normal,throws: +2.<init> -2.<init> +drive +1.<init> -1.<init> +create +2.<init> +getContext -getContext -2.<init> -create +invokeSuspend +guarded +1.<init> -1.<init> +pause -pause -guarded -invokeSuspend +invokeSuspend +guarded +pause -pause -guarded -invokeSuspend +invokeSuspend +guarded +leaf -leaf +pause -pause -guarded -invokeSuspend +invokeSuspend +guarded +leaf -leaf -guarded -invokeSuspend +invokeSuspend -invokeSuspend +resumeWith -resumeWith -drive
// finally after-super,exact: +2.<init> -2.<init> +drive +1.<init> -1.<init> +create +getContext -getContext +2.<init> -2.<init> -create +invokeSuspend +guarded +1.<init> -1.<init> +pause -pause -guarded -invokeSuspend +invokeSuspend +guarded +pause -pause -guarded -invokeSuspend +invokeSuspend +guarded +leaf -leaf +pause -pause -guarded -invokeSuspend +invokeSuspend +guarded +leaf -leaf -guarded -invokeSuspend +invokeSuspend -invokeSuspend +resumeWith -resumeWith -drive
suspend fun guarded(): Int {
    try {
        val n = pause()
        if (n > 0) throw IllegalStateException("n $n")
        return n
    } catch (e: IllegalStateException) {
        return pause() + leaf()
    } finally {
        pause()
        leaf()
    }
}

// retries normal,throws: +3.<init> -3.<init> +drive +1.<init> -1.<init> +create +3.<init> +getContext -getContext -3.<init> -create +invokeSuspend +retry +1.<init> -1.<init> +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry -retry -invokeSuspend +invokeSuspend -invokeSuspend +resumeWith -resumeWith -drive
// retries after-super,exact: +3.<init> -3.<init> +drive +1.<init> -1.<init> +create +getContext -getContext +3.<init> -3.<init> -create +invokeSuspend +retry +1.<init> -1.<init> +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry -retry -invokeSuspend +invokeSuspend -invokeSuspend +resumeWith -resumeWith -drive
// givesUp normal: +4.<init> -4.<init> +drive +1.<init> -1.<init> +create +4.<init> +getContext -getContext -4.<init> -create +invokeSuspend +retry +1.<init> -1.<init> +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +invokeSuspend +resumeWith -resumeWith -drive
// givesUp throws: +4.<init> -4.<init> +drive +1.<init> -1.<init> +create +4.<init> +getContext -getContext -4.<init> -create +invokeSuspend +retry +1.<init> -1.<init> +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry -retry +invokeSuspend +resumeWith -resumeWith -drive
// givesUp after-super: +4.<init> -4.<init> +drive +1.<init> -1.<init> +create +getContext -getContext +4.<init> -4.<init> -create +invokeSuspend +retry +1.<init> -1.<init> +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry -retry +invokeSuspend +resumeWith -resumeWith -drive
// givesUp exact: +4.<init> -4.<init> +drive +1.<init> -1.<init> +create +getContext -getContext +4.<init> -4.<init> -create +invokeSuspend +retry +1.<init> -1.<init> +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry +pause -pause -retry -invokeSuspend +invokeSuspend +retry -retry -invokeSuspend +invokeSuspend -invokeSuspend +resumeWith -resumeWith -drive
suspend fun retry(): Int {
    var left = 3
    while (true) {
        try {
            return pause()
        } catch (e: IllegalArgumentException) {
            if (left-- == 0) throw e
        }
    }
}

// fails normal: +5.<init> -5.<init> +drive +1.<init> -1.<init> +create +5.<init> +getContext -getContext -5.<init> -create +invokeSuspend +fails +1.<init> -1.<init> +pause -pause -fails -invokeSuspend +invokeSuspend +fails +invokeSuspend +resumeWith -resumeWith -drive
// fails throws: +5.<init> -5.<init> +drive +1.<init> -1.<init> +create +5.<init> +getContext -getContext -5.<init> -create +invokeSuspend +fails +1.<init> -1.<init> +pause -pause -fails -invokeSuspend +invokeSuspend +fails -fails +invokeSuspend +resumeWith -resumeWith -drive
// fails after-super: +5.<init> -5.<init> +drive +1.<init> -1.<init> +create +getContext -getContext +5.<init> -5.<init> -create +invokeSuspend +fails +1.<init> -1.<init> +pause -pause -fails -invokeSuspend +invokeSuspend +fails -fails +invokeSuspend +resumeWith -resumeWith -drive
// fails exact: +5.<init> -5.<init> +drive +1.<init> -1.<init> +create +getContext -getContext +5.<init> -5.<init> -create +invokeSuspend +fails +1.<init> -1.<init> +pause -pause -fails -invokeSuspend +invokeSuspend +fails -fails -invokeSuspend +invokeSuspend -invokeSuspend +resumeWith -resumeWith -drive
suspend fun fails(): Int {
    pause()
    throw UnsupportedOperationException("fails")
}

/** Runs a coroutine to its end: what it waits for is 1, 2, ..., or an exception while failures last. */
fun drive(failures: Int, block: suspend () -> Int) {
    var next = 1
    block.startCoroutine(Continuation(EmptyCoroutineContext) { Probe.out(it) })
    while (true) {
        val c = paused ?: return
        paused = null
        if (next++ <= failures) c.resumeWithException(IllegalArgumentException("try again")) else c.resume(next)
    }
}

object Coroutines {
    @JvmStatic
    fun main(args: Array<String>) {
        Probe.mark("initialisers")
        leaf()
        Probe.mark("suspends")
        drive(0) { sum() }
        Probe.mark("finally")
        drive(0) { guarded() }
        Probe.mark("retries")
        drive(2) { retry() }
        Probe.mark("givesUp")
        drive(9) { retry() }
        Probe.mark("fails")
        drive(0) { fails() }
        Probe.mark("sequence")
        val s = sequence { var n = 0; try { while (true) { yield(n); n += leaf() } } finally { leaf() } }
        Probe.out(s.take(4).toList())
    }
}
