import { expect, test } from 'vitest'
import { createBrokerDirectory } from './find-brokers.ts'

function directoryOf(ids: string[], clock = { now: 0 }) {
  const record = (brokers: boolean) => ({
    v: 1,
    url: 'http://x',
    startedAt: '',
    heartbeat: 1,
    leads: false,
    brokers,
  })
  const listed = () => [
    ...ids.map((id) => ({ id, record: record(true), modRevision: 1 })),
    { id: 'srv-none', record: record(false), modRevision: 1 },
  ]
  // A fake store with one list, because the broker directory reads no other collection.
  const store = { listWithIds: listed as never }
  const directory = createBrokerDirectory(store, () => clock.now)
  const order = (subject: string) => directory.inOrder(subject).map(({ id }) => id)
  return { directory, order, clock, ids }
}

test('the order of brokers for a subject is stable, and subjects are spread over brokers', () => {
  const { order } = directoryOf(['a', 'b', 'c'])
  const other = directoryOf(['c', 'b', 'a'])
  const firsts = Array.from({ length: 60 }, (_, index) => {
    expect(order(`s${index}`)).toEqual(other.order(`s${index}`))
    return order(`s${index}`)[0]
  })
  expect(new Set(firsts)).toEqual(new Set(['a', 'b', 'c']))
})

test('a broker that did not respond comes last for a while and is still used', () => {
  const { directory, order, clock } = directoryOf(['a', 'b'])
  const [first = '', second = ''] = order('s')
  directory.deprioritize(first)
  expect(order('s')).toEqual([second, first])
  clock.now = 10_001
  expect(order('s')).toEqual([first, second])
})
