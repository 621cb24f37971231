// Does a CI step use more CPU than its budget allows? 20 % over is a warning, 50 % over fails the run.

export interface Step {
  readonly name: string
  readonly wallSeconds: number
  readonly cpuSeconds: number
  readonly verdict: string
  /** Path of vitest's JSON report; empty for a CI step without tests. */
  readonly report: string
}

export interface Budgets {
  /** CPU milliseconds that the calibration takes on the machine on which the budgets were measured. */
  readonly calibrationMs: number
  readonly cpuSeconds: { readonly [step: string]: number }
}

export interface Judgement {
  readonly level: 'ok' | 'warning' | 'failure' | 'unbudgeted'
  readonly ratio: number
}

const WARNING = 1.2
const FAILURE = 1.5

/** Factor by which budgets grow on a machine that is slower than the one on which they were measured; at least 1. */
export const machineFactor = ({ calibrationMs }: Budgets, measuredMs: number): number =>
  Math.max(1, measuredMs / calibrationMs)

export function judgeStep({ cpuSeconds }: Budgets, factor: number, step: Step): Judgement {
  const budget = cpuSeconds[step.name]
  if (budget === undefined) return { level: 'unbudgeted', ratio: 0 }
  const ratio = step.cpuSeconds / (budget * factor)
  if (ratio > FAILURE) return { level: 'failure', ratio }
  return { level: ratio > WARNING ? 'warning' : 'ok', ratio }
}

export function readSteps(tsv: string): Step[] {
  return tsv
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', wall, cpu, verdict = '', report = ''] = line.split('\t')
      return { name, wallSeconds: Number(wall), cpuSeconds: Number(cpu), verdict, report }
    })
}
