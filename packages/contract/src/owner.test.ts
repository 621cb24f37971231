import { expect, test } from 'vitest'
import { asDeploymentUid, asJobId } from './ids.ts'
import {
  asOwner,
  consumerName,
  consumerOf,
  consumingDeployment,
  consumingJob,
  deploymentUidOf,
  jobIdOf,
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

test('reads a job as owner and never as a deployment', () => {
  const id = asJobId('job_01JCPZ0000000000000000000A')
  const owner = ownerOf('job', id)
  expect(owner).toBe(`job/${id}`)
  expect(readOwner(owner)).toEqual({ kind: 'job', id })
  expect([jobIdOf(owner), deploymentUidOf(owner)]).toEqual([id, undefined])
  expect(jobIdOf(ownerOf('deployment', UID))).toBeUndefined()
})

test.each([`cron/${UID}`, `Deployment/${UID}`, UID, 'deployment/', `/${UID}`, '', `deployment/${UID}/1`])(
  'never reads %s as a deployment',
  (text) => {
    expect(readOwner(asOwner(text))).toBeUndefined()
    expect(deploymentUidOf(asOwner(text))).toBeUndefined()
  },
)

test('names a deployment as consumer by its name, and a consumer of another kind with the kind', () => {
  const [web, job] = [consumerOf('deployment', 'web'), consumerOf('job', 'job_1')]
  expect([web, consumingDeployment(web), consumerName(web)]).toEqual(['deployment/web', 'web', 'web'])
  expect([consumingDeployment(job), consumerName(job)]).toEqual([undefined, 'job/job_1'])
  expect([consumingJob(job), consumingJob(web)]).toEqual(['job_1', undefined])
})
