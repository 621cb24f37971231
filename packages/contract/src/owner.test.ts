import { expect, test } from 'vitest'
import { asDeploymentUid } from './ids.ts'
import {
  asOwner,
  type Consumer,
  consumerName,
  consumerOf,
  consumingDeployment,
  deploymentUidOf,
  ownerOf,
  readOwner,
} from './owner.ts'

const UID = asDeploymentUid('dep_01JCPZ0000000000000000000A')

test('reads the owner that it made', () => {
  const owner = ownerOf('deployment', UID)
  expect(owner).toBe(`deployment/${UID}`)
  expect(readOwner(owner)).toEqual({ kind: 'deployment', id: UID })
  expect(deploymentUidOf(owner)).toBe(UID)
})

test.each([`job/${UID}`, `Deployment/${UID}`, UID, 'deployment/', `/${UID}`, '', `deployment/${UID}/1`])(
  'never reads %s as a deployment',
  (text) => {
    expect(readOwner(asOwner(text))).toBeUndefined()
    expect(deploymentUidOf(asOwner(text))).toBeUndefined()
  },
)

test('names a deployment as consumer by its name, and a consumer of an unknown kind with the kind', () => {
  const [web, job] = [consumerOf('deployment', 'web'), 'job/web' as Consumer]
  expect([web, consumingDeployment(web), consumerName(web)]).toEqual(['deployment/web', 'web', 'web'])
  expect([consumingDeployment(job), consumerName(job)]).toEqual([undefined, 'job/web'])
})
