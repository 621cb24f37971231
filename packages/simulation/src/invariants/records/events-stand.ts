// Invariant: a stored event never changes and does not disappear before its retention ends. Repeated placement refusals
// with equal reasons are stored as one event.

import type { Event } from '@holdfast/contract'
import type { Broken, Invariant } from '../invariant.ts'

const REFUSALS: ReadonlySet<Event['type']> = new Set(['deployment.unschedulable', 'deployment.stalled'])

export const eventsStand: Invariant = {
  name: 'events-stand',
  start() {
    const lastOf = new Map<string, Event>()
    return function* (moment) {
      for (const { id, was, is } of moment.events.changed) {
        if (is === undefined) yield { subject: id, message: `${was?.type} is gone` }
        else if (was !== undefined) yield* rewritten(was, is)
        else yield* publishedAgain(is, lastOf)
      }
    }
  },
}

function* rewritten(was: Event, is: Event): Generator<Broken> {
  if (JSON.stringify(was) !== JSON.stringify(is))
    yield {
      subject: is.subject.name,
      message: `${is.type} was rewritten: "${is.message}" at ${is.time}, before "${was.message}" at ${was.time}`,
    }
}

function* publishedAgain(event: Event, lastOf: Map<string, Event>): Generator<Broken> {
  const of = `${event.tenant}/${event.subject.uid}`
  const last = lastOf.get(of)
  lastOf.set(of, event)
  if (!REFUSALS.has(event.type) || last?.type !== event.type) return
  if (JSON.stringify(last.data) === JSON.stringify(event.data))
    yield {
      subject: event.subject.name,
      message: `${event.type} is published twice in a row: ${event.message}`,
    }
}
