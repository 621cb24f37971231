// Does a CI step use more CPU than its budget allows? 20 % over is a warning, 50 % over or no budget at all fails the run.

export interface Step {
  readonly name: string
  readonly wallSeconds: number
  readonly cpuSeconds: number
  readonly verdict: string
  /** Path of vitest's JSON report; empty for a CI step without one. */
  readonly report: string
  /** The script of the repository that the step runs; empty if it runs none. */
  readonly script: string
}

export interface Budgets {
  /** CPU milliseconds that the calibration takes on the machine on which the budgets were measured. */
  readonly calibrationMs: number
  /** The most that all steps may use together, without the capabilities of `raises`. */
  readonly base: number
  /** The cost of later capabilities. The sum of all budgets may grow only by a row here. */
  readonly raises: readonly { readonly capability: string; readonly cpuSeconds: number }[]
  readonly cpuSeconds: { readonly [step: string]: number }
  /** Steps that run only once per machine and count in no sum: the engines are built on a new machine. */
  readonly oncePerMachine: { readonly [step: string]: number }
}

export interface Judgement {
  readonly level: 'ok' | 'warning' | 'failure'
  /** Share of the budget that was used; infinite for a step without a budget. */
  readonly ratio: number
}

const WARNING = 1.2
const FAILURE = 1.5

/** Factor by which budgets grow on a machine that is slower than the one on which they were measured; at least 1. */
export const machineFactor = ({ calibrationMs }: Budgets, measuredMs: number): number =>
  Math.max(1, measuredMs / calibrationMs)

export function judgeStep({ cpuSeconds, oncePerMachine }: Budgets, factor: number, step: Step): Judgement {
  // A repeated step is judged by nothing: it has run because its first try failed.
  if (step.name.endsWith(', repeated')) return { level: 'ok', ratio: 0 }
  const budget = cpuSeconds[step.name] ?? oncePerMachine[step.name]
  if (budget === undefined) return { level: 'failure', ratio: Number.POSITIVE_INFINITY }
  const ratio = step.cpuSeconds / (budget * factor)
  if (ratio > FAILURE) return { level: 'failure', ratio }
  return { level: ratio > WARNING ? 'warning' : 'ok', ratio }
}

/** By how many CPU seconds the budgets exceed what they may be in all. */
export function excessOf({ base, raises, cpuSeconds }: Budgets): number {
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  return sum(Object.values(cpuSeconds)) - base - sum(raises.map((row) => row.cpuSeconds))
}

export function readSteps(tsv: string): Step[] {
  return tsv
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', wall, cpu, verdict = '', report = '', command = ''] = line.split('\t')
      const script = command.split(' ').find((word) => /^[\w.-]+\/[\w./-]+$/.test(word)) ?? ''
      return { name, wallSeconds: Number(wall), cpuSeconds: Number(cpu), verdict, report, script }
    })
}
