import { expect, test } from 'vitest'
import { endSessions } from './end-sessions.ts'

type Parts = Parameters<typeof endSessions>[0]
type Held = Parts['held']

/** Sessions without sockets, which note when they are dropped. */
function heldSessions(names: readonly string[]) {
  const all = new Map(names.map((nodeId) => [nodeId, { nodeId, socket: undefined }]))
  const dropped: string[] = []
  const held = {
    all,
    drop(session: { readonly nodeId: string }, code: string) {
      dropped.push(`${session.nodeId} ${code}`)
      all.delete(session.nodeId)
    },
  }
  return { parts: { held: held as unknown as Held, waiting: new Set() } satisfies Parts, all, dropped }
}

test('without a spread every session is ended before the call returns', () => {
  const { parts, dropped } = heldSessions(['a', 'b'])
  void endSessions(parts, 0)
  expect(dropped).toEqual(['a server_closing', 'b server_closing'])
})

test('with a spread each session ends at its own random time', async () => {
  const { parts, dropped } = heldSessions(['last', 'first'])
  const times = [0.9, 0.1]
  const ended = endSessions(parts, 100, () => times.shift() ?? 0)
  expect(dropped).toEqual([])
  await ended
  expect(dropped).toEqual(['first server_closing', 'last server_closing'])
})

test('a session that another one has replaced by its time is left alone', async () => {
  const { parts, all, dropped } = heldSessions(['a'])
  const ended = endSessions(parts, 20)
  all.set('a', { nodeId: 'a', socket: undefined })
  await ended
  expect(dropped).toEqual([])
})
