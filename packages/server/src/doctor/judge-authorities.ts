// Judges whether every node trusts the roots to which the certificate of the listener will change, and the root that it leads
// to now. See docs/design/certificates.md#the-next-authority

import { describeUnconfirmed, statedAuthorities } from '../operations/nodes/trusted-authorities.ts'
import { couldNotObserve, type Finding, failure, type Observed, ok, warning } from './finding.ts'
import type { StatedAgent } from './gather-platform.ts'

export interface AuthorityFacts {
  /** The fingerprints of the roots, or why the files cannot be read. */
  readonly roots: Observed<{ readonly served: string | undefined; readonly next: readonly string[] }>
  readonly agents: Observed<readonly StatedAgent[]>
}

const CHECK = 'authorities'

/** Without announced roots there is one finding at most: nodes that refuse the certificate of the listener. */
export function judgeAuthorities({ roots, agents }: AuthorityFacts): readonly Finding[] {
  if (roots.kind === 'unobserved')
    return [couldNotObserve(CHECK, roots.why, 'correct listen.tls, then run holdfast-server check-config')]
  const { served, next } = roots.value
  if (agents.kind === 'unobserved')
    return next.length === 0 ? [] : [couldNotObserve(CHECK, agents.why, 'repair etcd first')]
  return [
    ...(served === undefined ? [] : judgeServed(served, agents.value)),
    ...next.filter((pin) => pin !== served).map((pin) => judgeNext(pin, agents.value)),
  ]
}

/** An agent that states nothing may trust the authorities of its machine, so only those that state roots are judged. */
function judgeServed(pin: string, agents: readonly StatedAgent[]): readonly Finding[] {
  const stating = agents.filter((one) => (statedAuthorities(one) ?? []).length > 0)
  const unconfirmed = stating.filter((one) => statedAuthorities(one)?.includes(pin) !== true)
  if (unconfirmed.length === 0) return []
  const names = describeUnconfirmed({
    nodes: agents.length,
    unconfirmed: unconfirmed.map(({ name }) => name),
  })
  return [
    failure(
      CHECK,
      `the certificate of the listener leads to ${pin}, which is not trusted by ${names}`,
      'serve the previous chain again until they have confirmed listen.tls.nextCa, or enroll them again',
    ),
  ]
}

function judgeNext(pin: string, agents: readonly StatedAgent[]): Finding {
  const names = agents.filter((one) => statedAuthorities(one)?.includes(pin) !== true).map(({ name }) => name)
  if (names.length === 0)
    return ok(
      CHECK,
      `every node has confirmed ${pin}; listen.tls.cert may change to a chain that leads to it`,
    )
  return warning(
    CHECK,
    `${pin} is announced and not yet confirmed by ${describeUnconfirmed({ nodes: agents.length, unconfirmed: names })}`,
    'wait until these nodes have connected, upgrade agents older than the server, and delete nodes that will not return',
  )
}
