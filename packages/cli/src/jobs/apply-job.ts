// Creates the job of one document. Names of jobs are not unique, so each call creates another job
// (docs/adr/0092-every-apply-creates-a-job.md).

import type { Client, Failure } from '@holdfast/client'
import type { Alteration, JobRecord, Json, Warning } from '@holdfast/contract'
import { jobBody } from '@holdfast/manifest'

export interface AcceptedJob {
  readonly ok: true
  readonly verb: 'created'
  readonly job: JobRecord
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
}

export async function applyJob(
  client: Client,
  sent: Json,
): Promise<AcceptedJob | { readonly ok: false; readonly failure: Failure }> {
  const created = await client.jobs.create(jobBody(sent))
  return created.ok ? { ok: true, verb: 'created', ...created.value } : created
}
