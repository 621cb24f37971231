// The values of the scale-down delay: replicas are removed only if every value of the delay agrees. A missing value
// begins the delay again, because unknown usage is not low usage.

/** The longest distance between two values of one delay: two rounds of 30 s may be late or lost. */
const MOST_GAP_MS = 90_000

export interface WantedValue {
  readonly at: number
  readonly wanted: number
}

/** Values without a gap, oldest first. */
export interface ScalingWindow {
  /** The time of the first value after the last gap; undefined without values. */
  readonly since: number | undefined
  readonly values: readonly WantedValue[]
}

export const EMPTY_WINDOW: ScalingWindow = { since: undefined, values: [] }

/** Adds the value of now and drops those before the delay. `now` is a monotonic time in milliseconds. */
export function addValue(
  { since, values }: ScalingWindow,
  { at, wanted }: WantedValue,
  delayMs: number,
): ScalingWindow {
  const last = values.at(-1)
  const isGap = last === undefined || at - last.at > MOST_GAP_MS || at < last.at
  if (isGap || since === undefined) return { since: at, values: [{ at, wanted }] }
  const kept = values.filter((value) => at - value.at <= delayMs)
  return { since, values: [...kept, { at, wanted }] }
}

/** The number on which all values of the delay agree: the largest of them. Undefined until they cover the delay. */
export function agreedReplicas(
  { since, values }: ScalingWindow,
  now: number,
  delayMs: number,
): number | undefined {
  if (since === undefined || now - since < delayMs) return undefined
  return Math.max(...values.map(({ wanted }) => wanted))
}
