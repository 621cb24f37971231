// Jobs for `get`: one row per job, the newest first.

import type { JobRecord } from '@holdfast/contract'
import { age } from '../print/age.ts'
import { colorOf } from '../print/color.ts'
import { attemptsText, durationText } from '../print/job.ts'
import { findJob, listJobs } from './find-job.ts'
import type { Resource } from './resource.ts'

export const jobs: Resource<JobRecord> = {
  names: ['jobs', 'job'],
  kind: 'job',
  begin: 'holdfast run <image> -- <command> runs one',
  nameOf: ({ id }) => id,
  list: listJobs,
  read: findJob,
  columns: [
    { header: 'ID', value: ({ id }) => id },
    { header: 'NAME', value: ({ name }) => name },
    {
      header: 'PHASE',
      value: ({ status }) => status.phase,
      tint: ({ status }) => colorOf(status.phase),
    },
    {
      header: 'EXIT',
      value: ({ status: { exitCode } }) => (exitCode === null ? '' : String(exitCode)),
    },
    { header: 'NODE', drop: 3, value: ({ status }) => status.nodeName ?? '' },
    { header: 'ATTEMPTS', drop: 2, value: attemptsText },
    { header: 'TOOK', drop: 4, value: ({ status }, nowMs) => durationText(status, nowMs) },
    { header: 'AGE', drop: 1, value: ({ createdAt }, nowMs) => age(createdAt, nowMs) },
    { header: 'IMAGE', wide: true, value: ({ image }) => image },
    { header: 'REASON', value: ({ status }) => status.reason },
  ],
}
