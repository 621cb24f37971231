// A volume is deleted after the deployments of the same call that mount it.

import { createClient } from '@holdfast/client'
import { expect, test } from 'vitest'
import { aVolume, ME, TENANT } from '../resources/volume.fixture.ts'
import { scriptTerminal } from '../terminal/scripted-terminal.fixture.ts'
import { deleteVolumes } from './delete-volumes.ts'

const REJECTION = {
  code: 'deployment_not_found',
  field: 'name',
  received: '',
  expected: '',
  why: '',
  doc: '/d',
}
const VOLUME = aVolume()

/** A platform on which the deployment db is gone already. Returns the requests, too. */
function scriptPlatform() {
  const requests: string[] = []
  const responses: { readonly [request: string]: readonly [status: number, body: unknown] } = {
    'GET /me': [200, ME],
    'GET /dvm/volumes?limit=500': [200, { items: [VOLUME], nextCursor: null }],
    'GET /deployments/db': [404, { ...REJECTION, rejections: [REJECTION] }],
    [`DELETE /tenants/${TENANT}/volumes/${VOLUME.id}`]: [202, { ...VOLUME, phase: 'Deleting' }],
  }
  const client = createClient({
    baseUrl: 'http://platform',
    runtime: {
      async fetch(url, { method }) {
        const request = `${method} ${url.replace('http://platform/api/v1', '')}`
        requests.push(request)
        const [status, body] = responses[request] ?? [500, {}]
        return new Response(JSON.stringify(body), { status })
      },
    },
  })
  return { client, requests }
}

const indexOf = (requests: readonly string[], start: string): number =>
  requests.findIndex((request) => request.startsWith(start))

test('a consumer of the same call is gone before the volume is deleted', async () => {
  const { client, requests } = scriptPlatform()
  const terminal = scriptTerminal()
  const named = { deployments: ['db'], volumes: ['data'] }
  expect(await deleteVolumes(terminal, client, named, 1000)).toMatchObject({
    exitCode: 0,
    deleted: [{ name: 'data' }],
  })
  expect(indexOf(requests, 'GET /deployments/db')).toBeGreaterThan(0)
  expect(indexOf(requests, 'DELETE')).toBeGreaterThan(indexOf(requests, 'GET /deployments/db'))
  expect(terminal.printed).toEqual({ out: 'volume/data deleting\n', err: 'waiting until db is gone\n' })
})

test('a consumer outside of the call is left to the platform, which keeps the volume', async () => {
  const { client, requests } = scriptPlatform()
  await deleteVolumes(scriptTerminal(), client, { deployments: [], volumes: ['data'] }, 1000)
  expect(indexOf(requests, 'GET /deployments')).toBe(-1)
})
