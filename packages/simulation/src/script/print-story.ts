// Prints the story of a simulation to a terminal: one line per action, answer and event, and a summary at the end.

import type { StoryLine } from '../time/trace.ts'
import type { RunResult } from './run-script.ts'

/** Marks at the start of a line, which distinguish steps of the script from their consequences. */
const MARKS: { readonly [K in StoryLine['kind']]: string } = { step: '>', answer: '<', event: ' ' }

export function printStory({ story }: Pick<RunResult, 'story'>): string {
  const shown = story.filter(({ atMs }) => atMs >= 0)
  const several = new Set(shown.map(({ tenant }) => tenant).filter((name) => name !== '')).size > 1
  const subjects = shown.map(({ subject, tenant }) =>
    several && tenant !== '' ? `${tenant}/${subject}` : subject,
  )
  const width = Math.max(0, ...subjects.map(({ length }) => length))
  const lines = shown.map(({ atMs, kind, severity, message }, index) => {
    const time = clockTime(atMs).padStart(10)
    const how = (kind === 'event' ? severity : '').padEnd(7)
    return `${time} ${MARKS[kind]} ${how}  ${(subjects[index] ?? '').padEnd(width)}  ${message}`.trimEnd()
  })
  return lines.map((line) => `${line}\n`).join('')
}

/** A virtual time as minutes, seconds and tenths. */
function clockTime(atMs: number): string {
  const tenths = Math.floor(atMs / 100)
  const [minutes, seconds] = [Math.floor(tenths / 600), Math.floor(tenths / 10) % 60]
  return `${minutes}:${String(seconds).padStart(2, '0')}.${tenths % 10}`
}

export interface Summed extends Pick<RunResult, 'steps' | 'checks' | 'traceHash' | 'violations' | 'story'> {
  readonly seed: number
  readonly scriptSteps: number
  readonly invariants: number
}

export function printSummary(summed: Summed): string {
  const { violations, story, seed, scriptSteps, steps, invariants, checks, traceHash } = summed
  const events = story.filter(({ kind, atMs }) => kind === 'event' && atMs >= 0).length
  const broken = violations.map(
    ({ invariant, subject, message }) => `violated: ${invariant} by ${subject}: ${message}`,
  )
  const lines = [
    ...broken,
    `${scriptSteps} steps of the script, ${events} events, ${steps} turns of the simulation, seed ${seed}`,
    `${invariants} invariants asked ${checks} times: ${violations.length === 0 ? 'all hold' : `${violations.length} violated`}`,
    `trace ${traceHash}`,
  ]
  return lines.map((line) => `${line}\n`).join('')
}
