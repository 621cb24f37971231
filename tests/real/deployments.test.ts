import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Platform, startPlatform } from '../support/start-platform.ts'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.stop())

test('a deployment is created, read, changed, and deleted', async () => {
  const api = platform.api(platform.acme.token)
  const created = await api.post('/api/v1/deployments', {
    kind: 'Deployment',
    name: 'web',
    image: platform.image,
  })
  expect(created.text).toContain('default_applied')
  expect(created.status).toBe(201)
  expect(created.headers.get('etag')).toBe('"1"')
  const read = await api.get('/api/v1/deployments/web')
  expect(read.status).toBe(200)
  const again = await api.post('/api/v1/deployments', {
    kind: 'Deployment',
    name: 'web',
    image: platform.image,
  })
  expect(again.codes).toEqual(['deployment_exists'])
  const same = await api.put('/api/v1/deployments/web', read.body)
  expect(same.text).toContain('"revision":1')
  const changed = await api.put('/api/v1/deployments/web', { replicas: 3 }, { 'if-match': '"1"' })
  expect(changed.body['deployment']).toMatchObject({ replicas: 3, revision: 2 })
  const stale = await api.put('/api/v1/deployments/web', { replicas: 4 }, { 'if-match': '"1"' })
  expect(stale.codes).toEqual(['revision_conflict'])
  expect((await api.get('/api/v1/archives/deployments/web')).body['items']).toHaveLength(2)
  console.log(
    (await api.get('/api/v1/events')).text,
    (await api.get('/api/v1/audit')).text,
    (await api.get('/api/v1/quotas')).text,
  )
  expect((await api.delete('/api/v1/deployments/web')).status).toBe(202)
  await expect.poll(async () => (await api.get('/api/v1/deployments/web')).status).toBe(404)
})
