// How long a developer waits for the verdict on a change, by what has changed. The nearest tests run within this time.

interface Wait {
  readonly seconds: number
  /** The part of the time for near tests without engines, if there are tests with engines too; 1 if those do not run. */
  readonly withoutEngines: number
}

const CORE: Wait = { seconds: 30, withoutEngines: 1 }
const DASHBOARD: Wait = { seconds: 120, withoutEngines: 0.2 }
const OTHERS: Wait = { seconds: 60, withoutEngines: 0.4 }
const AREAS: readonly (readonly [RegExp, Wait])[] = [
  [/^packages\/dashboard\//, DASHBOARD],
  [/^packages\/(?:contract|core|client|manifest)\//, CORE],
]

/** The wait for a change of several files is that of the file whose tests take longest. */
export const waitFor = (changed: readonly string[]): Wait =>
  changed
    .map((path) => AREAS.find(([area]) => area.test(path))?.[1] ?? OTHERS)
    .reduce((longest, wait) => (wait.seconds > longest.seconds ? wait : longest), CORE)
