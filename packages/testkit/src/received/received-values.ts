// The event types, alterations, warnings and filters that the tests of this process received over HTTP. The setup of the
// test files appends them to the record of a CI run. Every test file loads this file, so it imports only what Node has.

import { env } from 'node:process'

/** The file with the record of a CI run; undefined outside CI, where nothing is recorded. */
export const RECEIVED_FILE = env['CI_RECEIVED']

export type Vocabulary = 'event type' | 'alteration' | 'warning' | 'filter'

export interface ReceivedValue {
  readonly vocabulary: Vocabulary
  readonly value: string
}

const received = new Map<string, ReceivedValue>()

export function addReceived(found: ReceivedValue): void {
  received.set(`${found.vocabulary} ${found.value}`, found)
}

/** Returns the values received since the last call. */
export function drainReceived(): ReceivedValue[] {
  const values = [...received.values()]
  received.clear()
  return values
}
