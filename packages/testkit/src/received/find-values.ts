// Which event types, alterations, warnings and filters does the body of a response contain?

import type { ReceivedValue } from './received-values.ts'

interface Members {
  readonly [name: string]: unknown
}

/** Searches a parsed body at any depth: events contain refusals, and lists contain events. */
export function findValues(body: unknown): ReceivedValue[] {
  if (typeof body !== 'object' || body === null) return []
  const members: Members = { ...body }
  return [
    ...findEventType(members),
    ...findCodes('alteration', members['alterations']),
    ...findCodes('warning', members['warnings']),
    ...findFilter(members),
    ...Object.values(members).flatMap(findValues),
  ]
}

/** An event has a severity; a resource with a member `type` has none. */
function findEventType({ type, severity }: Members): ReceivedValue[] {
  return typeof type === 'string' && typeof severity === 'string'
    ? [{ vocabulary: 'event type', value: type }]
    : []
}

/** A refusal has a fix; a query or a summary that names a filter has none. */
function findFilter({ filter, fix }: Members): ReceivedValue[] {
  return typeof filter === 'string' && typeof fix === 'string'
    ? [{ vocabulary: 'filter', value: filter }]
    : []
}

function findCodes(vocabulary: 'alteration' | 'warning', list: unknown): ReceivedValue[] {
  if (!Array.isArray(list)) return []
  return list.flatMap((each: unknown) => {
    const { code }: Members = { ...Object(each) }
    return typeof code === 'string' ? [{ vocabulary, value: code }] : []
  })
}
