// The report of an import: what became of each member of the Compose file, at its place, with the reason and the next
// step. A member without a finding was carried over as it is.

import { pathOf, type Written } from './source/written.ts'

/**
 * changed: carried over, but not as it was. refused: not carried over. ignored: not carried over, and without effect in
 * Compose or on a server, too.
 */
export type Outcome = 'changed' | 'refused' | 'ignored'

export interface Finding {
  readonly outcome: Outcome
  /** The service of the member; absent for members outside of services. */
  readonly service?: string
  /** The path in the Compose file, such as `services.web.ports[0]`. */
  readonly path: string
  readonly line: number
  readonly what: string
  readonly why: string
  /** The next step; empty if nothing has to be done. */
  readonly next: string
}

export interface CarriedMember {
  readonly path: string
  readonly line: number
}

export interface Findings {
  readonly carried: readonly CarriedMember[]
  readonly findings: readonly Finding[]
}

export interface Report {
  changed(at: Place, what: string, why: string, next?: string): void
  refused(at: Place, why: string, next?: string): void
  ignored(at: Place, why: string): void
  /** Notes that a member was visited. It was carried over if neither it nor a part of it gets a finding. */
  carried(at: Place): void
  findings(): Findings
}

type Place = Pick<Written, 'steps' | 'offset'>

const NOT_CARRIED = 'not carried over'

export function createReport(lineOf: (offset: number) => number): Report {
  const findings = new Map<string, Finding>()
  const carried = new Map<string, CarriedMember>()
  /** The paths of all findings and of everything around them. */
  const touched = new Set<string>()
  const add = (outcome: Outcome, { steps, offset }: Place, what: string, why: string, next: string): void => {
    const path = pathOf(steps)
    const [top, name] = path === '' ? [] : steps
    const service = top === 'services' && name !== undefined ? { service: pathOf([name]) } : {}
    const finding = { outcome, ...service, path, line: lineOf(offset), what, why, next }
    for (const at of steps.keys()) touched.add(pathOf(steps.slice(0, at + 1)))
    findings.set(JSON.stringify([outcome, path, what, why]), finding)
  }
  return {
    changed: (at, what, why, next = '') => add('changed', at, what, why, next),
    refused: (at, why, next = '') => add('refused', at, NOT_CARRIED, why, next),
    ignored: (at, why) => add('ignored', at, NOT_CARRIED, why, ''),
    carried({ steps, offset }) {
      const path = pathOf(steps)
      carried.set(path, { path, line: lineOf(offset) })
    },
    findings: () => ({
      carried: inOrder([...carried.values()].filter(({ path }) => !touched.has(path))),
      findings: inOrder([...findings.values()]),
    }),
  }
}

const inOrder = <T extends CarriedMember>(found: readonly T[]): T[] =>
  found.toSorted((left, right) => left.line - right.line)
