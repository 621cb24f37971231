// Tests the change stream with scripted responses.

import { expect, test } from 'vitest'
import { createClient } from './client.ts'
import type { ChangeStreamItem } from './follow-changes.ts'
import { header, scriptRuntime } from './scripted-runtime.fixture.ts'

const streamed = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } })

const CHANGED = { resource: 'deployments', name: 'web', uid: 'dep_1' }

test('reports changes, signs of life and missed changes, and resumes after the last message', async () => {
  const scripted = scriptRuntime(
    streamed(
      `id: 7\n\nid: 8\nevent: changes\ndata: ${JSON.stringify({ items: [CHANGED] })}\n\nid: 9\ndata: cut`,
    ),
    streamed('id: 12\nevent: resync\ndata: {"reason":"behind"}\n\n'),
  )
  const client = createClient({ baseUrl: 'http://h', runtime: scripted.runtime })
  const items: ChangeStreamItem[] = []
  for await (const item of client.followChanges()) {
    items.push(item)
    if (item.kind === 'resync') break
  }
  expect(items).toEqual([
    { kind: 'live' },
    { kind: 'current' },
    { kind: 'changes', items: [CHANGED] },
    { kind: 'resuming', reason: 'the server ended the stream' },
    { kind: 'live' },
    { kind: 'resync' },
  ])
  expect(scripted.requests.map((request) => header(request, 'last-event-id'))).toEqual([null, '8'])
})
