// Invariant: each new session of a node raises the session epoch, and each enrollment raises the generation. A node's
// location is the one that its join token attests.

import type { StoredNode } from '@holdfast/server/store/records'
import type { Broken, Invariant } from '../invariant.ts'

const RESERVED = 'holdfast.io/'
const COUNTRY = 'holdfast.io/country'
const REGION = 'holdfast.io/geo-region'

export const sessions: Invariant = {
  name: 'sessions',
  start: () =>
    function* (moment) {
      for (const { was, is } of moment.nodes.changed) {
        if (is === undefined) continue
        yield* unproved(is)
        if (was === undefined || was.id !== is.id) continue
        if (is.generation < was.generation || is.session.epoch < was.session.epoch)
          yield { subject: is.name, message: `went back to ${showSession(is)} from ${showSession(was)}` }
        const { replica, bootId, epoch } = is.session
        const another = replica !== was.session.replica || bootId !== was.session.bootId
        if (another && replica !== null && epoch === was.session.epoch && is.generation === was.generation)
          yield { subject: is.name, message: `has another session with the epoch of the last one, ${epoch}` }
      }
    },
}

const showSession = ({ generation, session }: StoredNode): string =>
  `generation ${generation}, epoch ${session.epoch}`

function* unproved({ name, labels, attested }: StoredNode): Generator<Broken> {
  const proved = new Map([
    [COUNTRY, attested.country],
    [REGION, attested.region],
  ])
  for (const [label, value] of Object.entries(labels))
    if (label.startsWith(RESERVED) && proved.get(label) !== value)
      yield {
        subject: name,
        message: `counts as ${label}=${value}, and enrollment proved ${proved.get(label) ?? 'nothing'}`,
      }
}
