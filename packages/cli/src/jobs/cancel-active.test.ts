import { createClient } from '@holdfast/client'
import type { JobRecord } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { cancelActive } from './cancel-active.ts'
import { aJob, aJobStatus, endedStatus } from './job.fixture.ts'

/** A platform on which the job has changed between each read and the next request. Records what is sent. */
function platform(states: readonly JobRecord[]) {
  const sent: string[] = []
  let at = 0
  const answer = (status: number, body: object) =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
  const rejection = { code: 'revision_conflict', field: '', received: '', expected: '', why: '', doc: '' }
  const client = createClient({
    baseUrl: 'http://platform',
    runtime: {
      wait: async () => {},
      async fetch(_url, { method = 'GET', headers }) {
        const ifMatch = new Headers(headers).get('if-match')
        sent.push(`${method} ${ifMatch ?? ''}`.trim())
        if (method === 'GET') return answer(200, { ...states[at] })
        const isCurrent = ifMatch?.includes(String(states[at + 1]?.revision)) === true
        at += 1
        return isCurrent
          ? answer(202, { ...states[at] })
          : answer(412, { ...rejection, rejections: [rejection] })
      },
    },
  })
  return { client, sent }
}

test('a job that ends between the read and the request is not removed', async () => {
  const states = [aJob(aJobStatus(), { revision: 4 }), aJob(endedStatus(0), { revision: 5 })]
  const { client, sent } = platform(states)
  const result = await cancelActive(client, aJob().id)
  expect(result).toMatchObject({ ok: true, value: { status: { phase: 'succeeded' } } })
  expect(sent.map((each) => each.replaceAll('"', ''))).toEqual(['GET', 'DELETE 4', 'GET'])
})
