import type { ChangedRecord } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { ChangeFollower } from '../../operations/changes/change-log.ts'
import { openChangeStream } from './change-stream.ts'

const changed = (name: string): ChangedRecord => ({ resource: 'deployments', name, uid: name })

function openWith(options: { isCurrent?: boolean; resync?: boolean } = {}) {
  const pending: ChangedRecord[] = []
  let { resync = false } = options
  let closed = false
  const follower: ChangeFollower = {
    get pending() {
      return resync || pending.length > 0
    },
    revision: 7,
    take() {
      const taken = { revision: 7, resync, items: pending.splice(0) }
      resync = false
      return taken
    },
    close() {
      closed = true
    },
  }
  const isCurrent = async () => options.isCurrent ?? true
  const stream = openChangeStream(follower, { isCurrent, gatherMs: 20, heartbeatMs: 40 })
  const received: string[] = []
  stream.stream.setEncoding('utf8').on('data', (text: string) => received.push(text))
  const add = (name: string) => {
    pending.push(changed(name))
    stream.changed()
  }
  return { stream, received, add, isClosed: () => closed }
}

const messages = (received: readonly string[]) =>
  received
    .join('')
    .split('\n\n')
    .filter((text) => text.includes('event: '))

test('sends changes of a short time as one message with the revision', async () => {
  const { stream, received, add } = openWith()
  add('one')
  add('two')
  await expect.poll(() => messages(received)).toHaveLength(1)
  expect(messages(received)[0]).toBe(
    `id: 7\nevent: changes\ndata: ${JSON.stringify({ items: [changed('one'), changed('two')] })}`,
  )
  stream.stream.destroy()
})

test('begins with a resync if changes were missed', async () => {
  const { stream, received } = openWith({ resync: true })
  await expect.poll(() => messages(received)).toHaveLength(1)
  expect(messages(received)[0]).toContain('event: resync')
  stream.stream.destroy()
})

test('sends signs of life only while the server is current', async () => {
  const [live, behind] = [openWith(), openWith({ isCurrent: false })]
  await expect.poll(() => live.received.join('').split('id: 7\n\n').length).toBeGreaterThan(3)
  expect(behind.received.join('').split('id: 7\n\n')).toHaveLength(2)
  live.stream.stream.destroy()
  behind.stream.stream.destroy()
})

test('closes its follower when the reader leaves or the server ends it', async () => {
  const [left, ended] = [openWith(), openWith()]
  left.stream.stream.destroy()
  ended.stream.end()
  await expect.poll(() => [left.isClosed(), ended.isClosed()]).toEqual([true, true])
})
