// One line of the doctor: the result of a check with its remedy, and the exit code of all of them.

/** `unobserved`: the check could not be made, which is never reported as healthy. */
export type Verdict = 'ok' | 'warning' | 'failure' | 'unobserved'

export interface Finding {
  /** Short name of the check, such as `etcd alarms`. */
  readonly check: string
  readonly verdict: Verdict
  readonly text: string
  /** Imperative sentence on what the operator can do; absent if the verdict is `ok`. */
  readonly remedy?: string
}

/** A value that was observed, or the reason why it could not be. */
export type Observed<T> =
  | { readonly kind: 'seen'; readonly value: T }
  | { readonly kind: 'unobserved'; readonly why: string }

export const seen = <T>(value: T): Observed<T> => ({ kind: 'seen', value })
export const unobserved = (why: string): { readonly kind: 'unobserved'; readonly why: string } => ({
  kind: 'unobserved',
  why,
})

export const ok = (check: string, text: string): Finding => ({ check, verdict: 'ok', text })

export const warning = (check: string, text: string, remedy: string): Finding => ({
  check,
  verdict: 'warning',
  text,
  remedy,
})

export const failure = (check: string, text: string, remedy: string): Finding => ({
  check,
  verdict: 'failure',
  text,
  remedy,
})

export const couldNotObserve = (check: string, why: string, remedy: string): Finding => ({
  check,
  verdict: 'unobserved',
  text: `could not be observed: ${why}`,
  remedy,
})

/** 2 after a failure, 1 after a warning or a check that could not be made, otherwise 0. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some(({ verdict }) => verdict === 'failure')) return 2
  return findings.some(({ verdict }) => verdict !== 'ok') ? 1 : 0
}
