// Finds jobs by id or name. Several jobs may have one name, so a name alone selects the newest of them.

import { type Client, type Failure, type Result, readAll } from '@holdfast/client'
import { isFinalPhase, isJobId, type JobRecord } from '@holdfast/contract'

/** All jobs of the tenant, the newest first. */
export async function listJobs(client: Client): Promise<Result<readonly JobRecord[]>> {
  const listed = await readAll((page) => client.jobs.list(page))
  return listed.ok ? { ok: true, value: listed.value.toSorted(newestFirst) } : listed
}

/** Ids rise with the time of creation. */
const newestFirst = (left: JobRecord, right: JobRecord): number => (left.id < right.id ? 1 : -1)

/** Finds a job. An unknown name is sent to the API as an id, so that the error message comes from the platform. */
export async function findJob(client: Client, nameOrId: string): Promise<Result<JobRecord>> {
  if (isJobId(nameOrId)) return client.jobs.read(nameOrId)
  const listed = await listJobs(client)
  if (!listed.ok) return listed
  const found = listed.value.find(({ name }) => name === nameOrId)
  return found === undefined ? unknownJob(client, nameOrId) : { ok: true, value: found }
}

/** The jobs with a name that have not ended; with an id, that job in any phase. */
export async function findActiveJobs(
  client: Client,
  nameOrId: string,
): Promise<Result<readonly JobRecord[]>> {
  if (isJobId(nameOrId)) {
    const read = await client.jobs.read(nameOrId)
    return read.ok ? { ok: true, value: [read.value] } : read
  }
  const listed = await listJobs(client)
  if (!listed.ok) return listed
  const named = listed.value.filter(({ name }) => name === nameOrId)
  if (named.length === 0) return unknownJob(client, nameOrId)
  return { ok: true, value: named.filter(({ status }) => !isFinalPhase(status.phase)) }
}

async function unknownJob(
  client: Client,
  name: string,
): Promise<{ readonly ok: false; readonly failure: Failure }> {
  const unknown = await client.jobs.read(name)
  if (!unknown.ok) return { ok: false, failure: acceptingNames(unknown.failure) }
  return { ok: false, failure: { kind: 'unexpected', status: 200, reason: `${name} is not the id of a job` } }
}

/** The API accepts ids only, and commands accept names, too. */
function acceptingNames(failure: Failure): Failure {
  if (failure.kind !== 'rejected') return failure
  const texts = {
    expected: 'the id or the name of a job of this tenant; holdfast job list lists them',
    why: 'This tenant has no job with that id or name. Ended jobs are deleted after some days.',
  }
  const rejections = failure.rejections.map((each) =>
    each.code === 'job_not_found' ? { ...each, ...texts } : each,
  )
  return { ...failure, rejections }
}
