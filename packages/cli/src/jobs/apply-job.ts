// Creates the job of one document, or shows what the creation would do. Names of jobs are not unique, so each call
// creates another job (docs/adr/0092-every-apply-creates-a-job.md).

import type { Client, Failure, Result } from '@holdfast/client'
import type { Alteration, Effects, JobRecord, Json, PlanStep, Warning, WrittenJob } from '@holdfast/contract'
import { jobBody } from '@holdfast/manifest'
import type { Prepared } from '../volumes/prepared.ts'

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

export interface PlannedJob {
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
  readonly plan: {
    readonly result: WrittenJob
    readonly steps: readonly PlanStep[]
    readonly effects: Effects
  }
}

/** Judges the document without the mounts and networks that other documents of the same call create. */
export const planJobOnPlatform = (client: Client, { judged }: Prepared): Promise<Result<PlannedJob>> =>
  client.jobs.dryRuns.create(jobBody(judged))
